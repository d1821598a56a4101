import { openApiDocument } from '../../http/openapi/openapi-document.ts';
import type { JsonObject } from '../../http/openapi/openapi-schemas.ts';
import { EncodedText } from '../../http/responses/encoded-text.ts';
import { defineRoute, type Route } from '../../http/routing/route.ts';
import { apiTags } from './api-tags.ts';
import { deliveryNames, deliveryPaths } from './delivery-paths.ts';
import { pathItems } from './path-items.ts';
import { webhookItems } from './webhook-items.ts';

/** What the document says of this server. */
export interface ApiDocumentOptions {
  readonly version: string;
  /** Base of the API, without a slash at its end; asked when needed. */
  readonly publicUrl: () => string;
  /** Base of the `type` of errors. */
  readonly docsBase: () => string;
}

const introduction = `Live streaming and video hosting. What to do first is told at \`/docs\` of the server.

Bodies and answers are JSON in UTF-8; times are ATOM in UTC (\`2026-03-04T05:06:07+00:00\`). A field that is not set is absent.
\`PATCH\` leaves what is not sent, replaces lists as a whole, and unsets with null where that is allowed.

Every \`GET\` answers \`HEAD\`, and every path \`OPTIONS\` (204, with \`Allow\`), both without other rights than those of \`GET\`.
A path that is not here answers 404, a method that is not here 405 with \`Allow\`. Every answer can be used by pages of any origin.
Instead of a key or a token, pages of this server send the cookie of a session with \`Millrace-Environment\`, without \`Authorization\`.
A request that is not HTTP is answered with 400, headers of more than 16 KiB with 431, and headers that come too slowly with 408,
with the same body as all errors.`;

/** The OpenAPI document of the server's routes and of what answers beside them. */
export function apiDocument(routes: readonly Route[], options: ApiDocumentOptions): JsonObject {
  return openApiDocument(routes, {
    title: 'Millrace',
    version: options.version,
    description: introduction,
    serverUrl: options.publicUrl(),
    docsBase: options.docsBase(),
    tags: apiTags,
    paths: pathItems(deliveryPaths, deliveryNames),
    webhooks: webhookItems,
  });
}

/** `/openapi.json`. The document lists this route too. */
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
