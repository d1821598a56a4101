import { pageOf, sortOf } from '../../../http/routing/pagination.ts';
import { projectResource } from '../../../http/routing/project-resource.ts';
import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import {
  signingKeyCreationSchema,
  signingKeyListSchema,
  signingKeySchema,
  signingKeysQuerySchema,
} from './signing-keys.schema.ts';
import type { SigningKeysService } from './signing-keys.service.ts';

export function signingKeyRoutes(signingKeys: SigningKeysService): Route[] {
  const all = { path: '/account/signing-keys', tag: 'Account', auth: 'key' } as const;
  const one = projectResource('Account', ['signingKeyId', 'Id of the signing key.'], (projectId, id) =>
    signingKeys.find(projectId, id),
  );
  const shown = { description: 'The signing key.', schema: signingKeySchema };

  return [
    defineRoute({
      method: 'GET',
      scope: 'admin',
      ...all,
      summary: 'List signing keys',
      description: 'The signing keys of the environment. They sign the tokens of its viewers.',
      query: signingKeysQuerySchema,
      success: { status: 200, description: 'A page of signing keys.', schema: signingKeyListSchema },
      handle: async request =>
        pageOf(
          request,
          await signingKeys.list(request.caller.projectId, sortOf(request.query, 'createdAt'), request.query),
        ),
    }),
    defineRoute({
      method: 'POST',
      scope: 'admin',
      ...all,
      summary: 'Create a signing key',
      description:
        'JSON Web Tokens that are signed with it let viewers watch the private videos and live streams of the environment. The private key is only in this response, unless you send your own public key.',
      body: jsonBody(signingKeyCreationSchema),
      success: { status: 201, ...shown },
      errors: ['signing-key-limit-reached'],
      handle: ({ caller, body }) => signingKeys.create(caller.projectId, body),
    }),
    defineRoute({
      method: 'GET',
      scope: 'admin',
      path: '/account/signing-keys/{signingKeyId}',
      summary: 'Get a signing key',
      ...one,
      success: { status: 200, ...shown },
      handle: ({ found }) => signingKeys.view(found),
    }),
    defineRoute({
      method: 'DELETE',
      scope: 'admin',
      path: '/account/signing-keys/{signingKeyId}',
      summary: 'Revoke a signing key',
      description: 'All tokens that it signed are refused within about a second, on every server.',
      ...one,
      success: { status: 204, description: 'The signing key is revoked.' },
      isAtomic: true,
      handle: ({ found }) => signingKeys.remove(found),
    }),
  ];
}
