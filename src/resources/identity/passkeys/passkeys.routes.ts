import type { SessionCaller } from '../../../http/routing/caller.ts';
import { pageOf, sortOf } from '../../../http/routing/pagination.ts';
import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import type { SessionGate } from '../sessions/session-gate.ts';
import { answerSignIn, sessionStarted } from '../sessions/sign-in-answer.ts';
import {
  passkeyChangesSchema,
  passkeyCreationSchema,
  passkeyListSchema,
  passkeyOptionsSchema,
  passkeyProofSchema,
  passkeySchema,
  passkeySignInSchema,
  passkeysQuerySchema,
} from './passkeys.schema.ts';
import type { PasskeysService } from './passkeys.service.ts';

export function passkeyRoutes(passkeys: PasskeysService, gate: SessionGate): Route[] {
  const tag = 'Sessions';
  const one = {
    path: '/account/passkeys/{passkeyId}',
    tag,
    auth: 'session',
    params: { passkeyId: 'Id of the passkey.' },
    find: ({ params, caller }: { params: { passkeyId: string }; caller: SessionCaller }) =>
      passkeys.find(caller, params.passkeyId),
  } as const;
  const shown = { description: 'The passkey.', schema: passkeySchema };
  return [
    defineRoute({
      method: 'GET',
      path: '/account/passkeys',
      tag,
      summary: 'List your passkeys',
      auth: 'session',
      query: passkeysQuerySchema,
      success: { status: 200, description: 'A page of passkeys.', schema: passkeyListSchema },
      handle: async request =>
        pageOf(
          request,
          await passkeys.list(request.caller, sortOf(request.query, 'createdAt'), request.query),
        ),
    }),
    defineRoute({
      method: 'POST',
      path: '/account/passkey-options',
      tag,
      summary: 'Start adding a passkey',
      description: 'Returns what `navigator.credentials.create()` of the browser needs.',
      auth: 'session',
      body: jsonBody(passkeyProofSchema),
      success: { status: 201, description: 'The options.', schema: passkeyOptionsSchema },
      errors: ['passkeys-unavailable', 'too-many-requests'],
      handle: async ({ caller, body, incoming }) => ({
        publicKey: { ...(await passkeys.creationOptions(caller, body, incoming)) },
      }),
    }),
    defineRoute({
      method: 'POST',
      path: '/account/passkeys',
      tag,
      summary: 'Add a passkey',
      auth: 'session',
      body: jsonBody(passkeyCreationSchema),
      success: { status: 201, ...shown },
      errors: ['passkey-limit-reached', 'passkeys-unavailable'],
      handle: ({ caller, body }) => passkeys.create(caller, body),
    }),
    defineRoute({
      method: 'GET',
      summary: 'Get a passkey',
      ...one,
      success: { status: 200, ...shown },
      handle: ({ found }) => passkeys.view(found),
    }),
    defineRoute({
      method: 'PUT',
      summary: 'Rename a passkey',
      ...one,
      body: jsonBody(passkeyChangesSchema),
      success: { status: 200, ...shown },
      handle: ({ found, body }) => passkeys.rename(found, body.name),
    }),
    defineRoute({
      method: 'DELETE',
      summary: 'Delete a passkey',
      description: 'It signs nobody in anymore. Sessions that it started continue.',
      ...one,
      success: { status: 204, description: 'Deleted.' },
      handle: ({ found }) => passkeys.remove(found),
    }),
    defineRoute({
      method: 'POST',
      path: '/auth/passkey-options',
      tag,
      summary: 'Start a sign-in with a passkey',
      description: 'Returns what `navigator.credentials.get()` of the browser needs.',
      auth: 'none',
      success: { status: 201, description: 'The options.', schema: passkeyOptionsSchema },
      errors: ['passkeys-unavailable'],
      handle: async () => ({ publicKey: { ...(await passkeys.requestOptions()) } }),
    }),
    defineRoute({
      method: 'POST',
      path: '/auth/passkey',
      tag,
      summary: 'Sign in with a passkey',
      description: 'Starts a session, as `POST /auth/session` does. Needs neither a password nor a code.',
      auth: 'none',
      body: jsonBody(passkeySignInSchema),
      success: sessionStarted,
      errors: [
        'authentication-invalid-passkey',
        'authorization-suspended-account',
        'authorization-other-site',
        'passkeys-unavailable',
      ],
      handle: request => answerSignIn(gate, request, from => passkeys.signIn(request.body, from)),
    }),
  ];
}
