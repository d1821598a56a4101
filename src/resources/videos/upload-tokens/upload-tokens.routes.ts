import { pageOf, sortOf } from '../../../http/routing/pagination.ts';
import { projectResource } from '../../../http/routing/project-resource.ts';
import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import {
  uploadTokenCreationSchema,
  uploadTokenListSchema,
  uploadTokenSchema,
  uploadTokensQuerySchema,
} from './upload-tokens.schema.ts';
import type { UploadTokensService } from './upload-tokens.service.ts';

export function uploadTokenRoutes(uploadTokens: UploadTokensService): Route[] {
  const all = { path: '/upload-tokens', tag: 'Upload tokens', auth: 'key' } as const;
  const one = projectResource('Upload tokens', ['uploadToken', 'The token.'], (projectId, token) =>
    uploadTokens.find(projectId, token),
  );
  const shown = { status: 200, description: 'The upload token.', schema: uploadTokenSchema } as const;

  return [
    defineRoute({
      method: 'GET',
      scope: 'upload',
      ...all,
      summary: 'List upload tokens',
      description: 'Upload tokens that have not expired.',
      query: uploadTokensQuerySchema,
      success: { status: 200, description: 'A page of upload tokens.', schema: uploadTokenListSchema },
      handle: async request =>
        pageOf(
          request,
          await uploadTokens.list(
            request.caller.projectId,
            sortOf(request.query, 'createdAt'),
            request.query,
          ),
        ),
    }),
    defineRoute({
      method: 'POST',
      scope: 'upload',
      ...all,
      summary: 'Create an upload token',
      description:
        'Anyone who has it can upload videos with `POST /upload`, without an API key, until it expires. Without a body, it never expires.',
      body: jsonBody(uploadTokenCreationSchema),
      precedesFile: true,
      success: shown,
      isAtomic: true,
      handle: ({ caller, body }) => uploadTokens.create(caller.projectId, body.ttl),
    }),
    defineRoute({
      method: 'GET',
      scope: 'upload',
      path: '/upload-tokens/{uploadToken}',
      summary: 'Get an upload token',
      ...one,
      success: shown,
      handle: ({ found }) => uploadTokens.view(found),
    }),
    defineRoute({
      method: 'DELETE',
      scope: 'upload',
      path: '/upload-tokens/{uploadToken}',
      summary: 'Delete an upload token',
      ...one,
      success: { status: 204, description: 'The upload token is deleted.' },
      isAtomic: true,
      handle: ({ found }) => uploadTokens.remove(found),
    }),
  ];
}
