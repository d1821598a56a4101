import type { Route } from '../routing/route.ts';
import { ErrorResponses, errorSchema } from './openapi-errors.ts';
import { answerHeaders, operationOf } from './openapi-operation.ts';
import { type JsonObject, SchemaCollection } from './openapi-schemas.ts';

interface OpenApiInfo {
  readonly title: string;
  readonly version: string;
  /** Markdown. */
  readonly description: string;
  readonly serverUrl: string;
  readonly docsBase: string;
  /** A sentence for each tag, in reading order. */
  readonly tags: Readonly<Record<string, string>>;
  readonly paths?: Readonly<Record<string, JsonObject>>;
  readonly webhooks?: (schemas: SchemaCollection) => Readonly<Record<string, JsonObject>>;
}

const header = (type: 'integer' | 'string', description: string) => ({ description, schema: { type } });

const securitySchemes = {
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
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'millrace_session',
    description:
      'The cookie of `POST /auth/session`; over TLS its name begins with `__Host-`, or with `__Secure-` where the public URL of the server has a path. Never accepted for requests of pages on other sites.',
  },
  environment: {
    type: 'apiKey',
    in: 'header',
    name: 'Millrace-Environment',
    description:
      'Which environment a request with the cookie of a session is for: `sandbox`, or `production` once the account is upgraded. The header `Millrace-Project` names the project. Without it, the request is for the first one.',
  },
  uploadToken: {
    type: 'apiKey',
    in: 'query',
    name: 'token',
    description: 'A token from `POST /upload-tokens`.',
  },
};

/** **Source**: OpenAPI Specification 3.1.1, https://spec.openapis.org/oas/v3.1.1.html */
export function openApiDocument(routes: readonly Route[], info: OpenApiInfo): JsonObject {
  const schemas = new SchemaCollection();
  const errors = new ErrorResponses(info.docsBase, schemas.add(errorSchema, 'output'), answerHeaders);
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const operation = { [route.method.toLowerCase()]: operationOf(route, schemas, errors) };
    paths[route.path] = { ...paths[route.path], ...operation };
  }
  const webhooks = info.webhooks?.(schemas);
  const usedTags = new Set([...Object.values(info.paths ?? {}), ...Object.values(paths)].flatMap(tagsOf));
  return {
    openapi: '3.1.1',
    info: { title: info.title, version: info.version, description: info.description },
    servers: [{ url: info.serverUrl }],
    tags: Object.entries(info.tags)
      .filter(([name]) => usedTags.has(name))
      .map(([name, description]) => ({ name, description })),
    paths: { ...paths, ...info.paths },
    webhooks,
    components: {
      schemas: schemas.named,
      responses: errors.responses,
      examples: errors.examples,
      headers: {
        RateLimitLimit: header('integer', 'Requests allowed per minute.'),
        RateLimitRemaining: header('integer', 'Requests left in this minute.'),
        RateLimitRetryAfter: header('integer', 'Seconds until the minute ends.'),
        RequestId: header('string', 'Identifies this request in the server log.'),
        RetryAfter: header('integer', 'Seconds to wait before the next attempt.'),
        WwwAuthenticate: header('string', 'How to authenticate: `Bearer`.'),
      },
      securitySchemes,
    },
  };
}

function tagsOf(item: JsonObject): string[] {
  return Object.values(item).flatMap(operation => (operation as { tags: string[] }).tags);
}
