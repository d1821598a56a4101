import { isJsonBodyRequired, type Method, type Route } from '../routing/route.ts';
import type { ErrorResponses } from './openapi-errors.ts';
import type { JsonObject, SchemaCollection } from './openapi-schemas.ts';

export const answerHeaders: JsonObject = {
  'X-RateLimit-Limit': { $ref: '#/components/headers/RateLimitLimit' },
  'X-RateLimit-Remaining': { $ref: '#/components/headers/RateLimitRemaining' },
  'X-RateLimit-Retry-After': { $ref: '#/components/headers/RateLimitRetryAfter' },
  'X-Request-Id': { $ref: '#/components/headers/RequestId' },
};

export function operationOf(route: Route, schemas: SchemaCollection, errors: ErrorResponses): JsonObject {
  const parameters = [
    ...pathParameters(route),
    ...queryParameters(route, schemas),
    ...headerParameters(route),
  ];
  const { otherSuccess } = route;
  const success = successResponse(route, schemas);
  return {
    operationId: operationId(route),
    tags: [route.tag],
    summary: route.summary,
    ...describe(route),
    security: securityOf(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route.method, route.body, schemas) }),
    responses: {
      [route.success.status]: success,
      ...(otherSuccess === undefined
        ? {}
        : { [otherSuccess.status]: { ...success, description: otherSuccess.description } }),
      ...(route.success.fileTypes ? { 206: partOf(success) } : {}),
      ...(route.success.isCacheable || route.success.fileTypes ? { 304: notModified(success) } : {}),
      ...Object.fromEntries(errors.of(route)),
    },
  };
}

function notModified({ content: _, ...success }: JsonObject): JsonObject {
  return { ...success, description: 'The version in `If-None-Match` is current.' };
}

function partOf({ headers, ...success }: JsonObject): JsonObject {
  const schema = { type: 'string' };
  return {
    ...success,
    description: 'The requested range.',
    headers: {
      ...(headers as JsonObject),
      'Content-Range': { description: 'The range of these bytes, and the size of the file.', schema },
    },
  };
}

function describe({ description, scope }: Route): JsonObject {
  const sentences = [description, ...(scope === undefined ? [] : [`Needs the scope \`${scope}\`.`])];
  const text = sentences.filter(sentence => sentence !== undefined).join('\n\n');
  return text === '' ? {} : { description: text };
}

/** Names the scope as the required role. **Source**: OpenAPI Specification 3.1.1, Security Requirement Object */
function securityOf({ auth, scope }: Route): JsonObject[] {
  const roles = scope === undefined ? [] : [scope];
  if (auth === 'none') return [];
  if (auth === 'session') return [{ session: roles }];
  if (auth === 'upload-token') return [{ uploadToken: [] }];
  return [{ apiKey: roles }, { accessToken: roles }, { session: roles, environment: [] }];
}

/** Returns `get-live-streams-liveStreamId` for `GET /live-streams/{liveStreamId}`. */
function operationId(route: Route): string {
  return [route.method.toLowerCase(), ...route.path.split('/').filter(part => part !== '')]
    .join('-')
    .replace(/[{}]/g, '')
    .replace(/\./g, '-');
}

function pathParameters(route: Route): JsonObject[] {
  return Object.entries(route.params).map(([name, param]) => {
    const { description, pattern } = typeof param === 'string' ? { description: param } : param;
    return {
      name,
      in: 'path',
      required: true,
      description,
      schema: { type: 'string', ...(pattern === undefined ? {} : { pattern: `^(?:${pattern})$` }) },
    };
  });
}

/** Lists are sent as `tags[]=a&tags[]=b`, maps as `metadata[key]=value`. */
function queryParameters(route: Route, schemas: SchemaCollection): JsonObject[] {
  if (route.query === undefined) return [];
  const { properties = {}, required = [] } = schemas.add(route.query, 'input') as {
    properties?: Record<string, JsonObject>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, examples, ...schema }]) => {
    const isList = schema.type === 'array';
    const isMap = schema.type === 'object';
    return {
      name: isList ? `${name}[]` : name,
      in: 'query',
      ...(required.includes(name) ? { required: true } : {}),
      ...(description === undefined ? {} : { description }),
      ...(isList ? { style: 'form', explode: true } : {}),
      ...(isMap ? { style: 'deepObject', explode: true } : {}),
      schema,
      ...(Array.isArray(examples) && examples.length > 0 ? { example: examples[0] } : {}),
    };
  });
}

const rangeHeaders: NonNullable<Route['headers']> = {
  Range: {
    description: 'One range of bytes, to get a part of the file or to continue a download.',
    pattern: String.raw`bytes=\d*-\d*`,
    examples: { 'the first MiB': 'bytes=0-1048575', 'the rest': 'bytes=1048576-' },
  },
};

function headerParameters(route: Route): JsonObject[] {
  const headers = { ...(route.success.fileTypes === undefined ? {} : rangeHeaders), ...route.headers };
  return Object.entries(headers).map(([name, { description, pattern, examples }]) => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string', pattern: `^(?:${pattern})$` },
    examples: Object.fromEntries(
      Object.entries(examples).map(([summary, value]) => [summary.replaceAll(' ', '-'), { summary, value }]),
    ),
  }));
}

const binary = { type: 'string', contentMediaType: 'application/octet-stream' };

function requestBody(
  method: Method,
  body: NonNullable<Route['body']>,
  schemas: SchemaCollection,
): JsonObject {
  if (body.kind === 'json') {
    const { examples: _, ...schema } = schemas.add(body.schema, 'input');
    return {
      required: isJsonBodyRequired(method, body.schema),
      content: { 'application/json': { schema, ...namedExamples(body.schema.meta()?.examples) } },
    };
  }
  const fields = Object.entries(body.fields ?? {}).map(([name, description]) => [
    name,
    { type: 'string', description },
  ]);
  const file = {
    ...binary,
    minLength: 1,
    description: 'The file. The field can have any name.',
  };
  return {
    required: true,
    description: `${body.description} At most ${body.maxBytes} bytes.`,
    content: {
      'multipart/form-data': {
        schema: {
          type: 'object',
          properties: { ...Object.fromEntries(fields), file },
          required: ['file'],
        },
        encoding: { file: { contentType: body.contentTypes.join(', ') } },
      },
    },
  };
}

function namedExamples(examples: unknown): JsonObject {
  if (!Array.isArray(examples) || examples.length === 0) return {};
  if (examples.length === 1) return { example: examples[0] };
  return {
    examples: Object.fromEntries(examples.map((value, index) => [`example-${index + 1}`, { value }])),
  };
}

const cachingHeaders = {
  'Cache-Control': 'How long the response can be cached.',
  ETag: 'Version of the file.',
};

const fileHeaders = {
  'Accept-Ranges': 'Always `bytes`.',
  ETag: 'Version of the file, for `If-None-Match` and `If-Range`.',
};

function successResponse(route: Route, schemas: SchemaCollection): JsonObject {
  const { description, schema, contentType, fileTypes, isCacheable } = route.success;
  const headers = {
    ...route.success.headers,
    ...(isCacheable ? cachingHeaders : {}),
    ...(fileTypes === undefined ? {} : fileHeaders),
  };
  const ownHeaders = Object.fromEntries(
    Object.entries(headers).map(([name, sentence]) => [
      name,
      { description: sentence, schema: { type: 'string' } },
    ]),
  );
  const content =
    schema !== undefined
      ? { 'application/json': { schema: schemas.add(schema, 'output') } }
      : contentType !== undefined
        ? { [contentType]: { schema: { type: contentType === 'application/json' ? 'object' : 'string' } } }
        : fileTypes !== undefined
          ? Object.fromEntries(fileTypes.map(type => [type, { schema: binary }]))
          : undefined;
  return {
    description,
    headers: { ...answerHeaders, ...ownHeaders },
    ...(content === undefined ? {} : { content }),
  };
}
