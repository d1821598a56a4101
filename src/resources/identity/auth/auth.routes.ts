import type { AddressOf } from '../../../http/listener/client-address.ts';
import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import { apiKeyRequestSchema, refreshRequestSchema, tokensSchema } from './auth.schema.ts';
import type { AuthService } from './auth.service.ts';

const refusals = [
  'authentication-invalid-user-credentials',
  'authorization-suspended-account',
  'too-many-requests',
] as const;

export function authRoutes(auth: AuthService, addressOf: AddressOf): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/auth/api-key',
      tag: 'Authentication',
      summary: 'Get an access token for an API key',
      auth: 'none',
      body: jsonBody(apiKeyRequestSchema),
      success: { status: 200, description: 'Tokens.', schema: tokensSchema },
      errors: [...refusals],
      handle: ({ body, incoming }) => auth.exchangeApiKey(body.apiKey, addressOf(incoming)),
    }),
    defineRoute({
      method: 'POST',
      path: '/auth/refresh',
      tag: 'Authentication',
      summary: 'Get a new access token for a refresh token',
      description: 'A refresh token works once. The response has a new one.',
      auth: 'none',
      body: jsonBody(refreshRequestSchema),
      success: { status: 200, description: 'Tokens.', schema: tokensSchema },
      errors: [...refusals],
      handle: ({ body }) => auth.refresh(body.refreshToken),
    }),
  ];
}
