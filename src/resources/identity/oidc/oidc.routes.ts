import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import { formatAtom } from '../../../shared/clock.ts';
import type { PasswordResetsService } from '../password-resets/password-resets.service.ts';
import type { SessionGate } from '../sessions/session-gate.ts';
import { answerSignIn, sessionStarted } from '../sessions/sign-in-answer.ts';
import { identitySchema, oidcRequestSchema, oidcSignInSchema, signInMethodsSchema } from './oidc.schema.ts';
import type { OidcService } from './oidc.service.ts';
import { oidcCookie, oidcSignInMs } from './sign-in-cookie.ts';

interface OidcRoutesOptions {
  readonly oidc: OidcService;
  readonly resets: PasswordResetsService;
  readonly gate: SessionGate;
}

export function oidcRoutes({ oidc, resets, gate }: OidcRoutesOptions): Route[] {
  const tag = 'Sessions';
  const identity = { path: '/account/identity', tag, auth: 'session' } as const;
  return [
    defineRoute({
      method: 'GET',
      path: '/auth/methods',
      tag,
      summary: 'Get the ways to sign in',
      description:
        'The ways besides the password and passkeys. Tells whether somebody is signed in, without an error if nobody is.',
      auth: 'none',
      success: { status: 200, description: 'The ways to sign in.', schema: signInMethodsSchema },
      handle: async ({ incoming }) => ({
        oidc: oidc.name === undefined ? undefined : { name: oidc.name },
        passwordReset: resets.isAvailable,
        signedIn: (await gate.currentSession(incoming)) !== undefined,
      }),
    }),
    defineRoute({
      method: 'POST',
      path: '/auth/oidc-request',
      tag,
      summary: 'Start a sign-in with the OpenID Connect provider',
      description:
        'Returns the page of the provider, which sends the browser back to `/dashboard/sign-in/oidc`. The cookie ties the sign-in to this browser.',
      auth: 'none',
      success: {
        status: 201,
        description: 'The page of the provider.',
        schema: oidcRequestSchema,
        headers: { 'Set-Cookie': 'The cookie of the sign-in, valid for 10 minutes.' },
      },
      errors: ['authorization-other-site', 'oidc-not-configured', 'oidc-provider-unavailable'],
      handle: async ({ incoming, setHeader }) => {
        gate.requireOwnSite(incoming, { needsOrigin: false });
        const { url, challenge } = await oidc.begin();
        setHeader('Set-Cookie', oidcCookie.write(challenge, oidcSignInMs, gate.cookieScope(incoming)));
        return { url };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/auth/oidc',
      tag,
      summary: 'Sign in with the OpenID Connect provider',
      description:
        'Starts a session, as `POST /auth/session` does. The first sign-in links the person at the provider with the user of the same email address, which the provider must have verified. Needs neither a password nor a code. If the address of the user was unverified, it is verified then: password, passkeys, codes, sessions and API keys that were set up before end. With `invitationToken`, accepts an invitation to this address, also for a person without a user, who is then created.',
      auth: 'none',
      body: jsonBody(oidcSignInSchema),
      success: sessionStarted,
      errors: [
        'authentication-oidc-refused',
        'authorization-suspended-account',
        'invitation-of-other-user',
        'email-unverified',
        'member-limit-reached',
        'authorization-other-site',
        'too-many-requests',
        'oidc-not-configured',
        'oidc-provider-unavailable',
        'resource-not-found',
      ],
      handle: request => {
        const { body, incoming } = request;
        const challenge = oidcCookie.read(incoming.headers.cookie, gate.cookieScope(incoming));
        return answerSignIn(gate, request, from => oidc.signIn(body, challenge, from));
      },
    }),
    defineRoute({
      method: 'GET',
      ...identity,
      summary: 'Get your link with the OpenID Connect provider',
      success: { status: 200, description: 'The link.', schema: identitySchema },
      handle: async ({ caller }) => {
        const linkedAtMs = await oidc.linkedAtMs(caller);
        return linkedAtMs === undefined
          ? { linked: false }
          : { linked: true, linkedAt: formatAtom(linkedAtMs) };
      },
    }),
    defineRoute({
      method: 'DELETE',
      ...identity,
      summary: 'Unlink the OpenID Connect provider',
      description:
        'The next sign-in with the provider links again, by the email address. Sessions that it started continue.',
      success: { status: 204, description: 'Nothing is linked.' },
      handle: ({ caller }) => oidc.unlink(caller),
    }),
  ];
}
