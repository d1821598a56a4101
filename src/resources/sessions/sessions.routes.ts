import type { SessionCaller } from '../../http/routing/caller.ts';
import { pageOf, sortOf } from '../../http/routing/pagination.ts';
import { defineRoute, jsonBody, type Route } from '../../http/routing/route.ts';
import type { SessionGate } from './session-gate.ts';
import {
  passwordChangeSchema,
  sessionAccountSchema,
  sessionListSchema,
  sessionSchema,
  sessionsQuerySchema,
  signInSchema,
} from './sessions.schema.ts';
import type { SessionsService } from './sessions.service.ts';

const attemptLimits =
  'After 10 wrong passwords for an email address within 15 minutes, or 30 from one network address, 429 is answered until that time is over. From a network address where the password was right before, the 10 are counted apart.';

/** `/auth/session`, `/account/sessions` and what else is for people who are signed in, and not for API keys. */
export function sessionRoutes(sessions: SessionsService, gate: SessionGate): Route[] {
  const tag = 'Sessions';
  const one = {
    tag,
    auth: 'session',
    params: { sessionId: 'Id of the session.' },
    find: ({ params, caller }: { params: { sessionId: string }; caller: SessionCaller }) =>
      sessions.find(caller, params.sessionId),
  } as const;
  return [
    defineRoute({
      method: 'POST',
      path: '/auth/session',
      tag,
      summary: 'Sign in',
      description: `Begins a session, which a cookie names. It ends 30 days after its last use. ${attemptLimits}`,
      auth: 'none',
      body: jsonBody(signInSchema),
      success: {
        status: 201,
        description: 'Who is signed in.',
        schema: sessionSchema,
        headers: { 'Set-Cookie': 'The cookie of the session.' },
      },
      errors: [
        'authentication-wrong-password',
        'authorization-suspended-account',
        'authorization-other-site',
        'too-many-requests',
      ],
      handle: async ({ body, incoming, setHeader }) => {
        gate.requireOwnSite(incoming);
        const { view, secret } = await sessions.signIn(body, incoming, gate.secretOf(incoming));
        setHeader('Set-Cookie', gate.cookieFor(secret, incoming));
        return view;
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/auth/session',
      tag,
      summary: 'See who is signed in',
      auth: 'session',
      success: {
        status: 200,
        description: 'Who is signed in, and where.',
        schema: sessionSchema,
        headers: { 'Set-Cookie': 'The same cookie, which the browser keeps for another 30 days.' },
      },
      handle: ({ caller, incoming, setHeader }) => {
        const view = sessions.view(caller);
        const secret = gate.secretOf(incoming);
        if (secret !== undefined) setHeader('Set-Cookie', gate.cookieFor(secret, incoming));
        return view;
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/auth/session',
      tag,
      summary: 'Sign out',
      auth: 'session',
      success: {
        status: 204,
        description: 'The session has ended.',
        headers: { 'Set-Cookie': 'Takes the cookie away.' },
      },
      handle: ({ caller, incoming, setHeader }) => {
        sessions.signOut(caller);
        setHeader('Set-Cookie', gate.cookieFor('', incoming));
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/account/sessions',
      tag,
      summary: 'List your sessions',
      description:
        'Where you are signed in. A user has 100 sessions at most: with another one, the one that was unused for the longest time ends.',
      auth: 'session',
      query: sessionsQuerySchema,
      success: { status: 200, description: 'A page of sessions.', schema: sessionListSchema },
      handle: ({ caller, query, path, queryText }) => {
        const { views, total } = sessions.list(caller, sortOf(query, 'createdAt'), query);
        return pageOf({ path, queryText, query }, { items: views, total });
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/account/sessions/{sessionId}',
      summary: 'End one of your sessions',
      ...one,
      success: { status: 204, description: 'It has ended.' },
      handle: ({ caller, found }) => sessions.end(caller, found),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/account/sessions',
      tag,
      summary: 'End all your other sessions',
      auth: 'session',
      success: { status: 204, description: 'Only the session of this request is left.' },
      handle: ({ caller }) => sessions.endOthers(caller),
    }),
    defineRoute({
      method: 'PUT',
      path: '/account/password',
      tag,
      summary: 'Change your password',
      description: `Ends all your other sessions, and gives this one another cookie. ${attemptLimits}`,
      auth: 'session',
      body: jsonBody(passwordChangeSchema),
      success: {
        status: 204,
        description: 'The new password counts from now on.',
        headers: { 'Set-Cookie': 'The cookie of the session, with another secret.' },
      },
      handle: async ({ caller, body, incoming, setHeader }) => {
        const secret = await sessions.changePassword(caller, body, incoming);
        setHeader('Set-Cookie', gate.cookieFor(secret, incoming));
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/account/upgrade',
      tag,
      summary: 'Upgrade your account',
      description: 'Only the operator of the server can upgrade its own account so; others ask the operator.',
      auth: 'session',
      success: { status: 200, description: 'The account.', schema: sessionAccountSchema },
      errors: ['authorization-operator-only'],
      handle: ({ caller }) => sessions.upgrade(caller),
    }),
  ];
}
