import type { z } from 'zod';
import type { SessionCaller } from '../../../http/routing/caller.ts';
import { pageOf, sortOf } from '../../../http/routing/pagination.ts';
import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import { formatAtom } from '../../../shared/clock.ts';
import type { Member } from './member.ts';
import { memberChangesSchema, memberListSchema, memberSchema, membersQuerySchema } from './members.schema.ts';
import type { MembersService } from './members.service.ts';

export function memberRoutes(members: MembersService): Route[] {
  const tag = 'Members';
  const one = {
    path: '/account/members/{userId}',
    tag,
    auth: 'session',
    params: { userId: 'Id of the user.' },
    find: ({ params, caller }: { params: { userId: string }; caller: SessionCaller }) =>
      members.find(caller, params.userId),
  } as const;
  return [
    defineRoute({
      method: 'GET',
      path: '/account/members',
      tag,
      summary: 'List members',
      auth: 'session',
      query: membersQuerySchema,
      success: { status: 200, description: 'A page of members.', schema: memberListSchema },
      handle: async request => {
        const { caller, query } = request;
        const all = await members.list(caller);
        if (sortOf(query, 'createdAt').direction === 'desc') all.reverse();
        return pageOf(
          request,
          pageItems(all, query, member => viewOf(member, caller)),
        );
      },
    }),
    defineRoute({
      method: 'PATCH',
      scope: 'admin',
      summary: 'Change the role of a member',
      description:
        'Applies to open sessions of the member within a second. The last owner cannot be demoted.',
      ...one,
      body: jsonBody(memberChangesSchema),
      success: { status: 200, description: 'The member.', schema: memberSchema },
      errors: ['last-owner', 'email-unverified'],
      handle: async ({ caller, found, body }) =>
        viewOf(await members.setRole(caller, found.userId, body.role), caller),
    }),
    defineRoute({
      method: 'DELETE',
      summary: 'Remove a member, or leave',
      description:
        'Owners can remove others, and everybody can leave. Sessions of the member in this account end within a second. The last owner cannot be removed.',
      ...one,
      success: { status: 204, description: 'The user is no longer a member.' },
      errors: ['last-owner', 'authorization-insufficient-scope', 'email-unverified'],
      handle: ({ caller, found }) => members.remove(caller, found.userId),
    }),
  ];
}

export function pageItems<Item, View>(
  items: readonly Item[],
  { currentPage, pageSize }: { currentPage: number; pageSize: number },
  view: (item: Item) => View,
): { items: View[]; total: number } {
  const first = (currentPage - 1) * pageSize;
  return { items: items.slice(first, first + pageSize).map(view), total: items.length };
}

function viewOf(member: Member, caller: SessionCaller): z.input<typeof memberSchema> {
  const { userId, email, isVerified: emailVerified, role, createdAtMs } = member;
  const isYou = userId === caller.userId;
  return { userId, email, emailVerified, role, createdAt: formatAtom(createdAtMs), isYou };
}
