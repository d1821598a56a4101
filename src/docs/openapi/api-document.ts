import { openApiDocument } from '../../http/openapi/openapi-document.ts';
import type { JsonObject } from '../../http/openapi/openapi-schemas.ts';
import { type DescribedPath, pathItems } from '../../http/openapi/path-items.ts';
import { EncodedText } from '../../http/responses/encoded-text.ts';
import { defineRoute, type Route } from '../../http/routing/route.ts';
import { apiTags } from './api-tags.ts';
import { pageNames, pagePaths } from './page-paths.ts';
import { webhookItems } from './webhook-items.ts';

interface ApiDocumentOptions {
  readonly version: string;
  /** Public URL without a trailing slash. A function, because ports are known late. */
  readonly publicUrl: () => string;
  readonly docsBase: () => string;
  /** Paths beside the API. */
  readonly paths: readonly DescribedPath[];
  /** Descriptions of their parameters. */
  readonly pathNames: Readonly<Record<string, string>>;
}

const introduction = `Live streaming and video hosting. Start with the guide at \`/docs\` of the server.

Request and response bodies are JSON in UTF-8. Times are ATOM in UTC (\`2026-03-04T05:06:07+00:00\`). Unset fields are absent.
\`PATCH\` keeps fields that you do not send, replaces lists as a whole, and unsets a field with null where that is allowed.

Every \`GET\` also supports \`HEAD\`, and every path \`OPTIONS\` (204, with \`Allow\`), both with the permissions of \`GET\`.
An unknown path gets 404, an unsupported method 405 with \`Allow\`. Pages of any origin can use every response.
Instead of a key or a token, pages of this server send a session cookie and \`Millrace-Environment\`, without \`Authorization\`.
A request that is not HTTP gets 400, headers of more than 16 KiB get 431, and headers that arrive too slowly get 408,
with the same body as all errors.`;

export function apiDocument(routes: readonly Route[], options: ApiDocumentOptions): JsonObject {
  return openApiDocument(routes, {
    title: 'Millrace',
    version: options.version,
    description: introduction,
    serverUrl: options.publicUrl(),
    docsBase: options.docsBase(),
    tags: apiTags,
    paths: pathItems([...options.paths, ...pagePaths], { ...options.pathNames, ...pageNames }),
    webhooks: webhookItems,
  });
}

export function apiDocumentRoute(routes: readonly Route[], options: ApiDocumentOptions): Route {
  let text: Promise<EncodedText> | undefined;
  return defineRoute({
    method: 'GET',
    path: '/openapi.json',
    tag: 'Documentation',
    summary: 'This document',
    auth: 'none',
    success: {
      status: 200,
      description: 'An OpenAPI document.',
      contentType: 'application/json',
      isCacheable: true,
    },
    handle: () => {
      text ??= EncodedText.of(JSON.stringify(apiDocument(routes, options)));
      return text;
    },
  });
}
