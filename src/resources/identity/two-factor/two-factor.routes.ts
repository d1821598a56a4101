import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import type { SessionGate } from '../sessions/session-gate.ts';
import { attemptLimits } from '../sessions/sessions.routes.ts';
import {
  enrollmentSchema,
  recoveryCodesSchema,
  twoFactorConfirmationSchema,
  twoFactorProofSchema,
  twoFactorSchema,
  twoFactorStartSchema,
} from './two-factor.schema.ts';
import type { TwoFactorService } from './two-factor.service.ts';

export function twoFactorRoutes(twoFactor: TwoFactorService, gate: SessionGate): Route[] {
  const tag = 'Sessions';
  const newCookie = { 'Set-Cookie': 'The cookie of the session, with a new secret.' };
  return [
    defineRoute({
      method: 'GET',
      path: '/account/two-factor',
      tag,
      summary: 'Get your two-factor sign-in',
      auth: 'session',
      success: { status: 200, description: 'The state.', schema: twoFactorSchema },
      handle: ({ caller }) => twoFactor.view(caller),
    }),
    defineRoute({
      method: 'POST',
      path: '/account/two-factor',
      tag,
      summary: 'Set up two-factor sign-in',
      description: `Creates a secret for an authenticator app. Nothing changes until you confirm a code of it. ${attemptLimits}`,
      auth: 'session',
      body: jsonBody(twoFactorStartSchema),
      success: { status: 201, description: 'The secret.', schema: enrollmentSchema },
      errors: ['two-factor-enabled'],
      handle: ({ caller, body, incoming }) => twoFactor.begin(caller, body.password, incoming),
    }),
    defineRoute({
      method: 'POST',
      path: '/account/two-factor/confirmation',
      tag,
      summary: 'Turn on two-factor sign-in',
      description:
        'From now on, a sign-in with your password needs a code. Ends all your other sessions and gives this one a new cookie.',
      auth: 'session',
      body: jsonBody(twoFactorConfirmationSchema),
      success: {
        status: 201,
        description: 'Recovery codes for when you lose your device.',
        schema: recoveryCodesSchema,
        headers: newCookie,
      },
      errors: ['two-factor-enabled', 'two-factor-not-enabled'],
      handle: async ({ caller, body, incoming, setHeader }) => {
        const { recoveryCodes, secret } = await twoFactor.confirm(caller, body.code);
        setHeader('Set-Cookie', gate.cookieFor(secret, incoming));
        return { recoveryCodes };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/account/two-factor/recovery-codes',
      tag,
      summary: 'Create new recovery codes',
      description: `Your other recovery codes stop working. ${attemptLimits}`,
      auth: 'session',
      body: jsonBody(twoFactorProofSchema),
      success: { status: 201, description: 'The codes.', schema: recoveryCodesSchema },
      errors: ['two-factor-not-enabled'],
      handle: async ({ caller, body, incoming }) => ({
        recoveryCodes: await twoFactor.renewRecoveryCodes(caller, body, incoming),
      }),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/account/two-factor',
      tag,
      summary: 'Turn off two-factor sign-in',
      description: `Ends all your other sessions and gives this one a new cookie. ${attemptLimits}`,
      auth: 'session',
      body: jsonBody(twoFactorProofSchema),
      success: { status: 204, description: 'Your password is enough to sign in.', headers: newCookie },
      errors: ['two-factor-not-enabled'],
      handle: async ({ caller, body, incoming, setHeader }) => {
        const secret = await twoFactor.disable(caller, body, incoming);
        setHeader('Set-Cookie', gate.cookieFor(secret, incoming));
      },
    }),
  ];
}
