import type { SessionCaller } from '../../../http/routing/caller.ts';
import { pageOf, sortOf } from '../../../http/routing/pagination.ts';
import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import { accountNameSchema } from '../members/members.schema.ts';
import type { SessionGate } from './session-gate.ts';
import {
  accountSwitchSchema,
  passwordChangeSchema,
  sessionAccountSchema,
  sessionListSchema,
  sessionSchema,
  sessionsQuerySchema,
  signInSchema,
} from './sessions.schema.ts';
import type { SessionsService } from './sessions.service.ts';
import { answerSignIn, sessionStarted } from './sign-in-answer.ts';

export const attemptLimits =
  'After 10 wrong passwords or codes for an email address within 15 minutes, or 30 from one network address, requests get 429 until the 15 minutes are over. Attempts from a network address where the password was right before are counted separately.';

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
      description: `Starts a session, identified by a cookie. It ends 30 days after its last use. ${attemptLimits}`,
      auth: 'none',
      body: jsonBody(signInSchema),
      success: sessionStarted,
      errors: [
        'authentication-wrong-password',
        'authentication-second-factor-required',
        'authentication-wrong-code',
        'authorization-suspended-account',
        'authorization-other-site',
        'too-many-requests',
      ],
      handle: request => answerSignIn(gate, request, from => sessions.signIn(request.body, from)),
    }),
    defineRoute({
      method: 'GET',
      path: '/auth/session',
      tag,
      summary: 'Get your session',
      auth: 'session',
      success: {
        status: 200,
        description: 'The session.',
        schema: sessionSchema,
        headers: { 'Set-Cookie': 'The same cookie, valid for another 30 days.' },
      },
      handle: async ({ caller, incoming, setHeader }) => {
        const view = await sessions.view(caller);
        const secret = gate.secretOf(incoming);
        if (secret !== undefined) setHeader('Set-Cookie', gate.cookieFor(secret, incoming));
        return view;
      },
    }),
    defineRoute({
      method: 'PATCH',
      path: '/auth/session',
      tag,
      summary: 'Switch to another account',
      auth: 'session',
      body: jsonBody(accountSwitchSchema),
      success: { status: 200, description: 'The session.', schema: sessionSchema },
      handle: ({ caller, body }) => sessions.switchAccount(caller, body.accountId),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/auth/session',
      tag,
      summary: 'Sign out',
      action: 'session.end',
      auth: 'session',
      success: {
        status: 204,
        description: 'The session has ended.',
        headers: { 'Set-Cookie': 'Removes the cookie.' },
      },
      handle: async ({ caller, incoming, setHeader }) => {
        await sessions.signOut(caller);
        setHeader('Set-Cookie', gate.cookieFor('', incoming));
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/account/sessions',
      tag,
      summary: 'List your sessions',
      description: 'A user has at most 100 sessions. Signing in again ends the least recently used one.',
      auth: 'session',
      query: sessionsQuerySchema,
      success: { status: 200, description: 'A page of sessions.', schema: sessionListSchema },
      handle: async ({ caller, query, path, queryText }) => {
        const { views, total } = await sessions.list(caller, sortOf(query, 'createdAt'), query);
        return pageOf({ path, queryText, query }, { items: views, total });
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/account/sessions/{sessionId}',
      summary: 'End a session',
      action: 'session.delete',
      ...one,
      success: { status: 204, description: 'The session has ended.' },
      handle: ({ caller, found }) => sessions.end(caller, found),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/account/sessions',
      tag,
      summary: 'End all other sessions',
      action: 'session.delete-others',
      auth: 'session',
      success: { status: 204, description: 'Only the session of this request remains.' },
      handle: ({ caller }) => sessions.endOthers(caller),
    }),
    defineRoute({
      method: 'PUT',
      path: '/account/password',
      tag,
      summary: 'Change your password',
      action: 'password.update',
      description: `Ends all your other sessions and gives this one a new cookie. ${attemptLimits}`,
      auth: 'session',
      body: jsonBody(passwordChangeSchema),
      success: {
        status: 204,
        description: 'The password has changed.',
        headers: { 'Set-Cookie': 'The cookie of the session, with a new secret.' },
      },
      handle: async ({ caller, body, incoming, setHeader }) => {
        const secret = await sessions.changePassword(caller, body, incoming);
        setHeader('Set-Cookie', gate.cookieFor(secret, incoming));
      },
    }),
    defineRoute({
      method: 'PATCH',
      path: '/account',
      scope: 'admin',
      tag,
      summary: 'Rename your account',
      auth: 'session',
      body: jsonBody(accountNameSchema),
      success: { status: 200, description: 'The account.', schema: sessionAccountSchema },
      handle: ({ caller, body }) => sessions.rename(caller, body.name),
    }),
    defineRoute({
      method: 'POST',
      path: '/account/upgrade',
      scope: 'admin',
      tag,
      summary: 'Upgrade your account',
      description:
        'Only the server operator can upgrade their own account this way. Everyone else asks the operator.',
      auth: 'session',
      success: { status: 200, description: 'The account.', schema: sessionAccountSchema },
      errors: ['authorization-operator-only'],
      handle: ({ caller }) => sessions.upgrade(caller),
    }),
  ];
}
