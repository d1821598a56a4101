import type { Caller } from '../../http/routing/caller.ts';
import { pageOf, sortOf } from '../../http/routing/pagination.ts';
import { defineRoute, jsonBody, type Route } from '../../http/routing/route.ts';
import {
  uploadTokenCreationSchema,
  uploadTokenListSchema,
  uploadTokenSchema,
  uploadTokensQuerySchema,
} from './upload-tokens.schema.ts';
import type { UploadTokensService } from './upload-tokens.service.ts';

/** The routes below `/upload-tokens`. */
export function uploadTokenRoutes(uploadTokens: UploadTokensService): Route[] {
  const tag = 'Upload tokens';
  const one = {
    tag,
    auth: 'key',
    params: { uploadToken: 'The token.' },
    find: ({ params, caller }: { params: { uploadToken: string }; caller: Caller }) =>
      uploadTokens.find(caller.projectId, params.uploadToken),
  } as const;
  const shown = { description: 'The upload token.', schema: uploadTokenSchema };

  return [
    defineRoute({
      method: 'GET',
      path: '/upload-tokens',
      tag,
      summary: 'List upload tokens',
      description: 'Those that have not expired.',
      auth: 'key',
      query: uploadTokensQuerySchema,
      success: { status: 200, description: 'A page of upload tokens.', schema: uploadTokenListSchema },
      handle: ({ caller, query, path, queryText }) => {
        const { views, total } = uploadTokens.list(caller.projectId, sortOf(query, 'createdAt'), query);
        return pageOf({ path, queryText, query }, { items: views, total });
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/upload-tokens',
      tag,
      summary: 'Create an upload token',
      description:
        'Whoever has it can upload videos with `POST /upload`, without a key, until it expires. Without a body, it never expires.',
      auth: 'key',
      body: jsonBody(uploadTokenCreationSchema),
      success: { status: 200, ...shown },
      handle: ({ caller, body }) => uploadTokens.create(caller.projectId, body.ttl),
    }),
    defineRoute({
      method: 'GET',
      path: '/upload-tokens/{uploadToken}',
      summary: 'Get an upload token',
      ...one,
      success: { status: 200, ...shown },
      handle: ({ found }) => uploadTokens.view(found),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/upload-tokens/{uploadToken}',
      summary: 'Delete an upload token',
      ...one,
      success: { status: 204, description: 'It is gone.' },
      handle: ({ found }) => uploadTokens.remove(found),
    }),
  ];
}
