import * as z from 'zod';
import { listQuery, listSchema } from '../../../http/routing/pagination.ts';
import { scopes } from '../../../http/routing/scope.ts';
import { passwordLength } from '../../../shared/limits/resource-limits.ts';
import { emailSchema } from '../accounts/email.schema.ts';
import { roles } from '../members/member.ts';
import { projectSchema } from '../projects/projects.schema.ts';

const dateTime = z.iso.datetime({ offset: true });
const environments = z.enum(['sandbox', 'production']);

export const signInSchema = z
  .strictObject({
    email: emailSchema.describe('Case does not matter.'),
    password: z.string().max(1_000),
    code: z
      .string()
      .max(100)
      .optional()
      .describe(
        'A code of the authenticator app or a recovery code. Required if the user has two-factor sign-in.',
      ),
  })
  .meta({ examples: [{ email: 'studio@example.org', password: 'nine boats leave at dawn' }] });

export const newPassword = z
  .string()
  .max(passwordLength.max)
  .refine(
    text => text.length >= passwordLength.min,
    `A password has at least ${passwordLength.min} characters.`,
  )
  .meta({ minLength: passwordLength.min });

export const passwordChangeSchema = z
  .strictObject({
    currentPassword: z.string().max(1_000),
    newPassword: newPassword.describe('Must differ from the email address and the current password.'),
  })
  .meta({
    examples: [{ currentPassword: 'nine boats leave at dawn', newPassword: 'nine boats come home at dusk' }],
  });

export const invitationAcceptSchema = z
  .strictObject({
    password: newPassword
      .optional()
      .describe('Required for a person without a password. Must differ from the email address.'),
  })
  .meta({ examples: [{ password: 'nine boats leave at dawn' }] });

export const accountSwitchSchema = z
  .strictObject({ accountId: z.string().min(1).max(64).describe('One of the `accounts` of the session.') })
  .meta({ examples: [{ accountId: 'ac5Tg2Hn8Jm4Kw7Lq1Pz3Xc6' }] });

export const sessionAccountSchema = z
  .object({
    accountId: z.string(),
    name: z.string().optional(),
    createdAt: dateTime,
    upgraded: z.boolean().describe('Whether the account can use production.'),
    isOperator: z.boolean().describe('Whether this is the account of the server operator.'),
  })
  .meta({
    id: 'SessionAccount',
    examples: [
      {
        accountId: 'ac5Tg2Hn8Jm4Kw7Lq1Pz3Xc6',
        createdAt: '2026-03-04T05:06:07+00:00',
        upgraded: true,
        isOperator: false,
      },
    ],
  });

const removedCredentialsSchema = z
  .object({
    passkeys: z.int(),
    sessions: z.int(),
    apiKeys: z.int(),
    signingKeys: z.int(),
    uploadTokens: z.int(),
    streamKeys: z.int().describe('Stream keys that were replaced.'),
    webhooks: z.int(),
    hooks: z.int(),
    destinations: z
      .int()
      .describe('Live streams whose restreams and source were removed, and player themes whose link was.'),
    invitations: z.int(),
    members: z.int().describe('Memberships of others in accounts that no verified user had owned.'),
    twoFactor: z.boolean().describe('Whether two-factor sign-in was turned off.'),
    unknownApiKeys: z
      .int()
      .describe('Remaining API keys of your accounts whose creator the server does not know.'),
  })
  .meta({
    id: 'RemovedCredentials',
    examples: [
      {
        passkeys: 1,
        sessions: 2,
        apiKeys: 0,
        signingKeys: 0,
        uploadTokens: 0,
        streamKeys: 0,
        webhooks: 1,
        hooks: 0,
        destinations: 0,
        invitations: 0,
        members: 0,
        twoFactor: false,
        unknownApiKeys: 0,
      },
    ],
  });

export const sessionSchema = z
  .object({
    sessionId: z.string(),
    email: z.string(),
    emailVerified: z
      .boolean()
      .describe('Whether your email address is verified. Otherwise, you can be in one account only.'),
    createdAt: dateTime,
    expiresAt: dateTime.describe('Extended while the session is used.'),
    account: sessionAccountSchema.describe('The account for which the session acts.'),
    role: z.enum(roles).describe('Your role in the account.'),
    scopes: z.array(z.enum(scopes)).describe('The scopes of your role.'),
    accounts: z
      .array(
        z.object({
          accountId: z.string(),
          name: z.string().optional(),
          ownerEmail: z.string().optional().describe('The email address of the first owner.'),
          role: z.enum(roles),
        }),
      )
      .describe('All accounts that you are a member of.'),
    environments: z.array(environments).describe('The allowed values of `Millrace-Environment`.'),
    projects: z
      .object({
        sandbox: z.string(),
        production: z.string().optional().describe('Absent until the account is upgraded.'),
      })
      .describe('`environmentIds` of the first project.'),
    allProjects: z
      .array(projectSchema)
      .describe('The projects of the account, the oldest first. `Millrace-Project` chooses one of them.'),
    removedCredentials: removedCredentialsSchema
      .optional()
      .describe('Only in the response of the request that verified the address of an existing user.'),
  })
  .meta({
    id: 'Session',
    examples: [
      {
        sessionId: 'se3Fd8Gh2Jk7Lz5Xc9Vb1Nm4',
        email: 'studio@example.org',
        emailVerified: true,
        createdAt: '2026-03-04T05:06:07+00:00',
        expiresAt: '2026-04-03T05:06:07+00:00',
        account: {
          accountId: 'ac5Tg2Hn8Jm4Kw7Lq1Pz3Xc6',
          createdAt: '2026-03-04T05:06:07+00:00',
          upgraded: true,
          isOperator: false,
        },
        role: 'owner',
        scopes: ['read', 'upload', 'live', 'admin'],
        accounts: [
          { accountId: 'ac5Tg2Hn8Jm4Kw7Lq1Pz3Xc6', ownerEmail: 'studio@example.org', role: 'owner' },
        ],
        environments: ['sandbox', 'production'],
        projects: { sandbox: 'pr9Bv4Nc2Mx7Za1Sd6Fg8Hj3', production: 'pr2Wq8Er5Ty1Ui6Op3As9Df7' },
        allProjects: [
          {
            projectId: 'pp5Tg2Hn8Jm4Kw7Lq1Pz3Xc6',
            name: 'Default',
            createdAt: '2026-03-04T05:06:07+00:00',
            environmentIds: { sandbox: 'pr9Bv4Nc2Mx7Za1Sd6Fg8Hj3', production: 'pr2Wq8Er5Ty1Ui6Op3As9Df7' },
          },
        ],
      },
    ],
  });

export type SessionView = z.input<typeof sessionSchema>;

export const sessionsQuerySchema = listQuery({}, ['createdAt', 'lastUsedAt']);

export const listedSessionSchema = z
  .object({
    sessionId: z.string(),
    createdAt: dateTime,
    lastUsedAt: dateTime.describe('To the minute.'),
    address: z.string().describe('The address that signed in.'),
    userAgent: z
      .string()
      .optional()
      .describe('The browser, as its `User-Agent` header says, cut after 200 characters.'),
    isCurrent: z.boolean().describe('Whether this is the session of the request.'),
  })
  .meta({
    id: 'ListedSession',
    examples: [
      {
        sessionId: 'se3Fd8Gh2Jk7Lz5Xc9Vb1Nm4',
        createdAt: '2026-03-04T05:06:07+00:00',
        lastUsedAt: '2026-03-05T08:00:00+00:00',
        address: '203.0.113.5',
        userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:148.0) Gecko/20100101 Firefox/148.0',
        isCurrent: true,
      },
    ],
  });

export type ListedSessionView = z.input<typeof listedSessionSchema>;

export const sessionListSchema = listSchema(listedSessionSchema);
