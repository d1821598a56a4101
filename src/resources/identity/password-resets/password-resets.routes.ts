import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import type { SessionGate } from '../sessions/session-gate.ts';
import {
  passwordResetCompleteSchema,
  passwordResetRequestSchema,
  passwordResetSchema,
} from './password-resets.schema.ts';
import type { PasswordResetsService } from './password-resets.service.ts';

export function passwordResetRoutes(resets: PasswordResetsService, gate: SessionGate): Route[] {
  const tag = 'Sessions';
  const byToken = {
    tag,
    auth: 'none',
    params: { resetToken: 'The last part of the link.' },
    find: ({ params }: { params: { resetToken: string } }) => resets.find(params.resetToken),
  } as const;
  return [
    defineRoute({
      method: 'POST',
      path: '/auth/password-resets',
      tag,
      summary: 'Request a new password',
      description:
        'Sends a link by email if there is a user with this email address. The response is the same if there is none. The link works once, within an hour, and replaces an earlier one. After 5 requests for an email address within an hour, or 30 from one network address, requests get 429.',
      auth: 'none',
      body: jsonBody(passwordResetRequestSchema),
      success: { status: 204, description: 'If there is such a user, the link is on its way.' },
      errors: ['authorization-other-site', 'mail-not-configured', 'too-many-requests'],
      handle: ({ body, incoming }) => {
        gate.requireOwnSite(incoming, { needsOrigin: false });
        return resets.request(body.email, incoming);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/auth/password-resets/{resetToken}',
      summary: 'Get the user of a link for a new password',
      ...byToken,
      success: { status: 200, description: 'The user.', schema: passwordResetSchema },
      handle: ({ found }) => resets.view(found),
    }),
    defineRoute({
      method: 'POST',
      path: '/auth/password-resets/{resetToken}/complete',
      summary: 'Set a new password',
      description:
        'Ends the passkeys and sessions of the user that are not kept, and starts none: sign in with the new password. Two-factor sign-in stays as it is. Proves the address of an unverified user, and then also ends two-factor sign-in and the API keys that the user created. An email confirms the change.',
      ...byToken,
      body: jsonBody(passwordResetCompleteSchema),
      success: { status: 204, description: 'The password has changed.' },
      errors: ['authorization-other-site', 'too-many-requests'],
      handle: ({ found, params: { resetToken: token }, body, incoming }) => {
        gate.requireOwnSite(incoming, { needsOrigin: false });
        const { password, keepPasskeys: passkeys = [], keepSessions: sessions = [] } = body;
        return resets.complete(found, { token, password, keep: { passkeys, sessions } }, incoming);
      },
    }),
  ];
}
