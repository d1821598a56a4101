import * as z from 'zod';
import { listQuery, listSchema } from '../../../http/routing/pagination.ts';
import { emailSchema } from '../accounts/email.schema.ts';
import { maxAccountNameLength, roles } from './member.ts';

const dateTime = z.iso.datetime({ offset: true });
const role = z
  .enum(roles)
  .describe(
    '`owner` can do everything, `editor` has the scopes `read`, `upload` and `live`, `viewer` has `read`.',
  );
const example = { email: 'anna@example.org', role: 'editor' } as const;

export const membersQuerySchema = listQuery({}, ['createdAt']);

export const memberSchema = z
  .object({
    userId: z.string(),
    email: z.string(),
    emailVerified: z.boolean().describe('Whether the email address is verified.'),
    role,
    createdAt: dateTime.describe('The time at which this person joined.'),
    isYou: z.boolean().describe('True for the user of the session.'),
  })
  .meta({
    id: 'Member',
    examples: [
      {
        userId: 'us4Gh7Jk2Lz9Xc5Vb8Nm1Qw3',
        ...example,
        emailVerified: true,
        createdAt: '2026-03-04T05:06:07+00:00',
        isYou: false,
      },
    ],
  });

export const memberListSchema = listSchema(memberSchema);

export const memberChangesSchema = z.strictObject({ role }).meta({ examples: [{ role: 'viewer' }] });

export const invitationCreationSchema = z
  .strictObject({
    email: emailSchema.describe('The address of the person. Case does not matter.'),
    role,
  })
  .meta({ examples: [example] });

export const invitationSchema = z
  .object({
    invitationId: z.string(),
    email: z.string(),
    role,
    createdAt: dateTime,
    expiresAt: dateTime,
    mail: z
      .object({
        status: z.enum(['sending', 'sent', 'failed']),
        failure: z.string().optional().describe('The reason, for `failed`.'),
      })
      .optional()
      .describe('The email with the link. Absent if the server has no mail server.'),
    url: z
      .string()
      .optional()
      .describe(
        'Secret: the page that accepts the invitation. Only in the response that creates it. It does not verify the address, because you know it, too.',
      ),
  })
  .meta({
    id: 'Invitation',
    examples: [
      {
        invitationId: 'in6Rt9Yu2Io5Pa8Sd1Fg4Hj7',
        ...example,
        createdAt: '2026-03-04T05:06:07+00:00',
        expiresAt: '2026-03-11T05:06:07+00:00',
      },
    ],
  });

export const invitationListSchema = listSchema(invitationSchema);

export const openedInvitationSchema = z
  .object({
    email: z.string(),
    role,
    expiresAt: dateTime,
    accountName: z.string().optional(),
    ownerEmail: z.string().optional().describe('The email address of the first owner of the account.'),
    hasUser: z.boolean().describe('True if the person has a user already, and must be signed in to accept.'),
    verifies: z
      .boolean()
      .describe('True for a link that was only sent by email: accepting it verifies the address.'),
  })
  .meta({
    id: 'OpenedInvitation',
    examples: [
      {
        ...example,
        expiresAt: '2026-03-11T05:06:07+00:00',
        accountName: 'Harbour TV',
        ownerEmail: 'studio@example.org',
        hasUser: false,
        verifies: true,
      },
    ],
  });

export const accountNameSchema = z
  .strictObject({
    name: z.string().min(1).max(maxAccountNameLength).nullable().describe('Null removes the name.'),
  })
  .meta({ examples: [{ name: 'Harbour TV' }] });
