import * as z from 'zod';
import type { SessionCaller } from '../../../http/routing/caller.ts';
import { listQuery, listSchema, pageOf, sortOf } from '../../../http/routing/pagination.ts';
import { defineRoute, type Route } from '../../../http/routing/route.ts';
import { formatAtom } from '../../../shared/clock.ts';
import { AppError } from '../../../shared/errors.ts';
import { pageItems } from '../members/members.routes.ts';
import type { UnverifiedUser } from './account-admin.store.ts';
import type { AccountAdmin } from './account-admin.ts';

const example = {
  userId: 'us4Gh7Jk2Lz9Xc5Vb8Nm1Qw3',
  email: 'anna@example.org',
  createdAt: '2026-03-04T05:06:07+00:00',
};

const unverifiedUserSchema = z
  .object({ userId: z.string(), email: z.string(), createdAt: z.iso.datetime({ offset: true }) })
  .meta({ id: 'UnverifiedUser', examples: [example] });

const verifiedUserSchema = z
  .object({
    email: z.string(),
    password: z
      .string()
      .describe('The new password, only in this response. Give it to the person whose address it is.'),
  })
  .meta({ id: 'VerifiedUser', examples: [{ email: 'anna@example.org', password: 'q7Rt4Yu9Io2Pa5Sd8Fg1' }] });

interface UnverifiedUserRoutesOptions {
  readonly admin: AccountAdmin;
  readonly isOperator: (accountId: string) => Promise<boolean>;
}

/** Routes for owners of the operator's account, with a session: no API key gives passwords away. */
export function unverifiedUserRoutes({ admin, isOperator }: UnverifiedUserRoutesOptions): Route[] {
  const all = {
    path: '/server/unverified-users',
    tag: 'Operation',
    auth: 'session',
    scope: 'admin',
  } as const;
  const requireOperator = async ({ accountId }: SessionCaller) => {
    if (!(await isOperator(accountId))) throw new AppError('authorization-operator-only');
  };
  return [
    defineRoute({
      method: 'GET',
      ...all,
      summary: 'List unverified users',
      description:
        'Users of all accounts whose email address is not verified. Only for the account of the server operator.',
      query: listQuery({}, ['createdAt']),
      success: { status: 200, description: 'A page of users.', schema: listSchema(unverifiedUserSchema) },
      errors: ['authorization-operator-only'],
      handle: async request => {
        await requireOperator(request.caller);
        const users = await admin.listUnverified();
        if (sortOf(request.query, 'createdAt').direction === 'desc') users.reverse();
        return pageOf(request, pageItems(users, request.query, viewOf));
      },
    }),
    defineRoute({
      method: 'POST',
      ...all,
      path: '/server/unverified-users/{userId}/verify',
      action: 'user.verify',
      summary: 'Verify a user',
      description:
        'Confirms that the email address belongs to the person who gets the new password. Passkeys, codes, sessions and API keys that the user set up before end. Only for the account of the server operator.',
      params: { userId: 'Id of the user.' },
      find: async ({ params, caller }: { params: { userId: string }; caller: SessionCaller }) => {
        await requireOperator(caller);
        return (await admin.listUnverified()).find(({ userId }) => userId === params.userId);
      },
      success: { status: 200, description: 'The new password.', schema: verifiedUserSchema },
      errors: ['authorization-operator-only'],
      handle: async ({ found: { email } }) => {
        const outcome = await admin.verify(email);
        if (outcome === undefined || outcome === 'verified-before') {
          throw new AppError('resource-not-found', undefined, { details: { name: 'userId' } });
        }
        return { email, password: outcome.password.reveal() };
      },
    }),
  ];
}

function viewOf({ userId, email, createdAtMs }: UnverifiedUser): z.input<typeof unverifiedUserSchema> {
  return { userId, email, createdAt: formatAtom(createdAtMs) };
}
