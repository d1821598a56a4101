import { z } from 'zod';
import type { Route } from './route.ts';

/** What the document says about the API as a whole. */
export interface OpenApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** Base of the API, without a slash at its end. */
  readonly serverUrl: string;
}

type Json = { [key: string]: unknown };

const problemSchema = z.object({
  type: z.string().optional(),
  title: z.string(),
  name: z.string(),
  detail: z.string().optional(),
  range: z.object({ min: z.number().optional(), max: z.number().optional() }).optional(),
});

const errorSchema = z
  .object({
    type: z.string().optional().describe('Address that names the error; absent from a fault of the server.'),
    title: z.string().describe('What went wrong, for a person.'),
    status: z.int().describe('The HTTP status again.'),
    name: z.string().optional().describe('The field at fault.'),
    detail: z.string().optional(),
    range: z.object({ min: z.number().optional(), max: z.number().optional() }).optional(),
    problems: z.array(problemSchema).optional().describe('Every bad field; the first is repeated above.'),
  })
  .meta({ id: 'Error' });

const descriptions: Readonly<Record<number, string>> = {
  400: 'The request is not valid.',
  401: 'Credentials are missing or wrong.',
  403: 'Not allowed.',
  404: 'There is no such resource.',
  408: 'The body came too slowly.',
  409: 'The resource is in a state that does not allow this.',
  413: 'The body is too large.',
  429: 'Too many requests in this minute.',
  500: 'A fault of the server.',
  503: 'The server cannot do this now.',
};

const rateHeaders = {
  'X-RateLimit-Limit': { $ref: '#/components/headers/RateLimitLimit' },
  'X-RateLimit-Remaining': { $ref: '#/components/headers/RateLimitRemaining' },
  'X-RateLimit-Retry-After': { $ref: '#/components/headers/RateLimitRetryAfter' },
};

/**
 * Builds the OpenAPI document of some routes.
 *
 * **Source**: OpenAPI Specification 3.1.1, https://spec.openapis.org/oas/v3.1.1.html
 */
export function openApiDocument(routes: readonly Route[], info: OpenApiInfo): Json {
  const schemas = new SchemaCollection();
  const paths: Record<string, Json> = {};
  const errorReference = schemas.add(errorSchema, 'output');
  for (const route of routes) {
    const operation = { [route.method.toLowerCase()]: operationOf(route, schemas, errorReference) };
    paths[route.path] = { ...paths[route.path], ...operation };
  }
  const integerHeader = (description: string) => ({ description, schema: { type: 'integer' } });
  return {
    openapi: '3.1.1',
    info: { title: info.title, version: info.version, description: info.description },
    servers: [{ url: info.serverUrl }],
    tags: [...new Set(routes.map(route => route.tag))].map(name => ({ name })),
    paths,
    components: {
      schemas: schemas.named,
      headers: {
        RateLimitLimit: integerHeader('Requests allowed in a minute.'),
        RateLimitRemaining: integerHeader('Requests left in this minute.'),
        RateLimitRetryAfter: integerHeader('Seconds until the minute ends.'),
      },
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'basic',
          description: 'The API key as user name with an empty password.',
        },
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          description: 'An access token from `POST /auth/api-key`.',
        },
        uploadToken: {
          type: 'apiKey',
          in: 'query',
          name: 'token',
          description: 'A token from `POST /upload-tokens`.',
        },
      },
    },
  };
}

/** JSON Schemas of zod schemas; those with an `id` stand once under `components`. */
class SchemaCollection {
  readonly named: Record<string, unknown> = {};

  add(schema: z.ZodType, io: 'input' | 'output'): Json {
    const { $schema, $defs, ...json } = z.toJSONSchema(schema, {
      io,
      reused: 'inline',
      override: ({ jsonSchema }) => {
        // Safe-integer limits of zod's integers say nothing to a reader.
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      },
    }) as Json;
    const pointed = pointToComponents({ json, $defs: $defs ?? {} }) as { json: Json; $defs: Json };
    for (const [name, definition] of Object.entries(pointed.$defs)) this.named[name] = withoutId(definition);
    const id = pointed.json.id;
    if (typeof id !== 'string') return pointed.json;
    this.named[id] = withoutId(pointed.json);
    return { $ref: `#/components/schemas/${id}` };
  }
}

function withoutId(schema: unknown): Json {
  const { id, ...rest } = schema as Json;
  return rest;
}

function pointToComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pointToComponents);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string'
        ? inner.replace('#/$defs/', '#/components/schemas/')
        : pointToComponents(inner),
    ]),
  );
}

function operationOf(route: Route, schemas: SchemaCollection, errorReference: Json): Json {
  const parameters = [
    ...Object.entries(route.params).map(([name, description]) => ({
      name,
      in: 'path',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    ...queryParameters(route, schemas),
  ];
  return {
    operationId: operationId(route),
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    security: securityOf(route.auth),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route.body, schemas) }),
    responses: {
      [route.success.status]: successResponse(route, schemas),
      ...(route.otherSuccess === undefined
        ? {}
        : {
            [route.otherSuccess.status]: {
              ...successResponse(route, schemas),
              description: route.otherSuccess.description,
            },
          }),
      ...Object.fromEntries(
        errorStatuses(route).map(status => [
          status,
          {
            description: descriptions[status] ?? 'An error.',
            headers: rateHeaders,
            content: { 'application/json': { schema: errorReference } },
          },
        ]),
      ),
    },
  };
}

function securityOf(auth: Route['auth']): Json[] {
  if (auth === 'none') return [];
  return auth === 'upload-token' ? [{ uploadToken: [] }] : [{ apiKey: [] }, { accessToken: [] }];
}

/** `GET /live-streams/{liveStreamId}` is `get-live-streams-liveStreamId`. */
function operationId(route: Route): string {
  return [route.method.toLowerCase(), ...route.path.split('/').filter(part => part !== '')]
    .join('-')
    .replace(/[{}]/g, '')
    .replace(/\./g, '-');
}

function queryParameters(route: Route, schemas: SchemaCollection): Json[] {
  if (route.query === undefined) return [];
  const { properties = {} } = schemas.add(route.query, 'input') as { properties?: Record<string, Json> };
  return Object.entries(properties).map(([name, { description, ...schema }]) => {
    const isList = schema.type === 'array';
    return {
      name: isList ? `${name}[]` : name,
      in: 'query',
      ...(description === undefined ? {} : { description }),
      ...(schema.type === 'object' ? { style: 'deepObject', explode: true } : {}),
      schema,
    };
  });
}

function requestBody(body: NonNullable<Route['body']>, schemas: SchemaCollection): Json {
  if (body.kind === 'json') {
    return { required: true, content: { 'application/json': { schema: schemas.add(body.schema, 'input') } } };
  }
  return {
    required: true,
    description: `${body.description} At most ${body.bytesMax} bytes.`,
    content: {
      'multipart/form-data': {
        schema: {
          type: 'object',
          properties: { file: { type: 'string', contentMediaType: 'application/octet-stream' } },
          required: ['file'],
        },
        encoding: { file: { contentType: body.contentTypes.join(', ') } },
      },
    },
  };
}

function successResponse(route: Route, schemas: SchemaCollection): Json {
  const { description, schema, contentType } = route.success;
  const content =
    schema !== undefined
      ? { 'application/json': { schema: schemas.add(schema, 'output') } }
      : contentType !== undefined
        ? { [contentType]: { schema: { type: 'string' } } }
        : undefined;
  return { description, headers: rateHeaders, ...(content === undefined ? {} : { content }) };
}

function errorStatuses(route: Route): number[] {
  const statuses = new Set<number>([400, 500, ...route.errors]);
  if (route.auth !== 'none') for (const status of [401, 403, 429]) statuses.add(status);
  if (route.find !== undefined) statuses.add(404);
  if (route.body !== undefined) statuses.add(408);
  if (route.body?.kind === 'json') statuses.add(413);
  if (route.body?.kind === 'file') statuses.add(503);
  return [...statuses].sort((a, b) => a - b);
}
