import type { z } from 'zod';
import type { SessionCaller } from '../../../http/routing/caller.ts';
import { pageOf, sortOf } from '../../../http/routing/pagination.ts';
import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import { stoppedText } from '../../../mail/mail-queue.ts';
import { type Clock, formatAtom } from '../../../shared/clock.ts';
import type { SessionGate } from '../sessions/session-gate.ts';
import { invitationAcceptSchema, sessionSchema } from '../sessions/sessions.schema.ts';
import type { InvitationsService } from './invitations.service.ts';
import type { Invitation } from './member.ts';
import { pageItems } from './members.routes.ts';
import {
  invitationCreationSchema,
  invitationListSchema,
  invitationSchema,
  membersQuerySchema,
  openedInvitationSchema,
} from './members.schema.ts';

interface InvitationRoutesOptions {
  readonly invitations: InvitationsService;
  readonly gate: SessionGate;
  readonly clock: Clock;
}

export function invitationRoutes({ invitations, gate, clock }: InvitationRoutesOptions): Route[] {
  const nowMs = () => clock.nowMs();
  const tag = 'Members';
  const all = { path: '/account/invitations', tag, auth: 'session', scope: 'admin' } as const;
  const byToken = {
    tag,
    auth: 'none',
    params: { token: 'The last part of the link.' },
    find: ({ params }: { params: { token: string } }) => invitations.open(params.token),
  } as const;
  return [
    defineRoute({
      method: 'GET',
      ...all,
      summary: 'List open invitations',
      query: membersQuerySchema,
      success: { status: 200, description: 'A page of invitations.', schema: invitationListSchema },
      handle: async request => {
        const open = await invitations.list(request.caller);
        if (sortOf(request.query, 'createdAt').direction === 'desc') open.reverse();
        return pageOf(
          request,
          pageItems(open, request.query, invitation => viewOf(invitation, nowMs())),
        );
      },
    }),
    defineRoute({
      method: 'POST',
      ...all,
      summary: 'Invite people',
      description:
        'Send the person the `url`, which is only in this response. It works once, within 7 days. A server with a mail server sends another link, which verifies the address, and `mail` has the outcome. A new invitation of the same address replaces the earlier one.',
      body: jsonBody(invitationCreationSchema),
      success: { status: 201, description: 'The invitation, with its link.', schema: invitationSchema },
      errors: ['already-member', 'email-unverified', 'invitation-limit-reached', 'member-limit-reached'],
      handle: async ({ caller, body }) => {
        const { invitation, url } = await invitations.create(caller, body);
        return { ...viewOf(invitation, nowMs()), url };
      },
    }),
    defineRoute({
      method: 'DELETE',
      ...all,
      path: '/account/invitations/{invitationId}',
      summary: 'Revoke an invitation',
      params: { invitationId: 'Id of the invitation.' },
      find: ({ params, caller }: { params: { invitationId: string }; caller: SessionCaller }) =>
        invitations.find(caller, params.invitationId),
      success: { status: 204, description: 'The link no longer works.' },
      handle: ({ found }) => invitations.revoke(found),
    }),
    defineRoute({
      method: 'GET',
      path: '/invitations/{token}',
      summary: 'Get an invitation',
      ...byToken,
      success: { status: 200, description: 'The invitation.', schema: openedInvitationSchema },
      handle: ({ found: { email, role, expiresAtMs, accountName, ownerEmail, hasUser, isMailed } }) => ({
        email,
        role,
        hasUser,
        verifies: isMailed,
        expiresAt: formatAtom(expiresAtMs),
        accountName,
        ownerEmail,
      }),
    }),
    defineRoute({
      method: 'POST',
      path: '/invitations/{token}/accept',
      summary: 'Accept an invitation',
      description:
        'A person without a user sets a password and is signed in. A person with a user must be signed in with the address of the invitation, which must be verified. With the link that was emailed, an unverified user counts as none: its password, passkeys, codes, sessions and API keys end. The session then acts for the account of the invitation.',
      ...byToken,
      body: jsonBody(invitationAcceptSchema),
      success: {
        status: 200,
        description: 'The session.',
        schema: sessionSchema,
        headers: { 'Set-Cookie': 'The cookie of the session.' },
      },
      errors: [
        'invitation-of-other-user',
        'email-unverified',
        'member-limit-reached',
        'authorization-suspended-account',
        'authorization-other-site',
        'too-many-requests',
      ],
      handle: async ({ found, body, incoming, setHeader }) => {
        gate.requireOwnSite(incoming, { needsOrigin: false });
        const before = gate.secretOf(incoming);
        const session = await gate.currentSession(incoming);
        const from = { request: incoming, before };
        const { view, secret = before } = await invitations.accept(found, body.password, from, session);
        if (secret !== undefined) setHeader('Set-Cookie', gate.cookieFor(secret, incoming));
        return view;
      },
    }),
  ];
}

/** Time to send a mail, longer than all attempts. */
const maxSendingMs = 3 * 60_000;

function viewOf(invitation: Invitation, nowMs: number): z.input<typeof invitationSchema> {
  const { invitationId, email, role, createdAtMs, expiresAtMs, mail } = invitation;
  const isAbandoned = mail?.status === 'sending' && nowMs - createdAtMs > maxSendingMs;
  const state = isAbandoned ? ({ status: 'failed', failure: stoppedText } as const) : mail;
  return {
    invitationId,
    email,
    role,
    createdAt: formatAtom(createdAtMs),
    expiresAt: formatAtom(expiresAtMs),
    mail: state === undefined ? undefined : { ...state },
  };
}
