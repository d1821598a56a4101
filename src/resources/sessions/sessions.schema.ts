import { z } from 'zod';
import { listQuery, listSchema } from '../../http/routing/pagination.ts';
import { passwordLength } from '../accounts/password.ts';

const dateTime = z.iso.datetime({ offset: true });
const environments = z.enum(['sandbox', 'production']);

/** Body of `POST /auth/session`. */
export const signInSchema = z
  .strictObject({
    email: z.string().max(320).describe('In any case of letters.'),
    password: z.string().max(1_000),
  })
  .meta({ examples: [{ email: 'studio@example.org', password: 'nine boats leave at dawn' }] });

/** Body of `PUT /account/password`. */
export const passwordChangeSchema = z
  .strictObject({
    currentPassword: z.string().max(1_000),
    newPassword: z
      .string()
      .max(passwordLength.max)
      .refine(
        text => text.length >= passwordLength.min,
        `A password has ${passwordLength.min} characters at least.`,
      )
      .meta({ minLength: passwordLength.min })
      .describe('Neither the email address nor the current password.'),
  })
  .meta({
    examples: [{ currentPassword: 'nine boats leave at dawn', newPassword: 'nine boats come home at dusk' }],
  });

/** The account that somebody is signed in to. */
export const sessionAccountSchema = z
  .object({
    accountId: z.string(),
    createdAt: dateTime,
    upgraded: z.boolean().describe('Whether production can be used.'),
    isOperator: z.boolean().describe('Whether it is the account of whoever runs the server.'),
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

/** Who is signed in. */
export const sessionSchema = z
  .object({
    sessionId: z.string(),
    email: z.string(),
    createdAt: dateTime,
    expiresAt: dateTime.describe('Moves on while the session is used.'),
    account: sessionAccountSchema,
    environments: z.array(environments).describe('What `Millrace-Environment` may say.'),
    projects: z
      .object({
        sandbox: z.string(),
        production: z.string().optional().describe('Absent until the account is upgraded.'),
      })
      .describe('Ids of the projects of these environments.'),
  })
  .meta({
    id: 'Session',
    examples: [
      {
        sessionId: 'se3Fd8Gh2Jk7Lz5Xc9Vb1Nm4',
        email: 'studio@example.org',
        createdAt: '2026-03-04T05:06:07+00:00',
        expiresAt: '2026-04-03T05:06:07+00:00',
        account: {
          accountId: 'ac5Tg2Hn8Jm4Kw7Lq1Pz3Xc6',
          createdAt: '2026-03-04T05:06:07+00:00',
          upgraded: true,
          isOperator: false,
        },
        environments: ['sandbox', 'production'],
        projects: { sandbox: 'pr9Bv4Nc2Mx7Za1Sd6Fg8Hj3', production: 'pr2Wq8Er5Ty1Ui6Op3As9Df7' },
      },
    ],
  });

/** Who is signed in, as the API shows it. */
export type SessionView = z.input<typeof sessionSchema>;

/** Query of `GET /account/sessions`. */
export const sessionsQuerySchema = listQuery({}, ['createdAt', 'lastUsedAt']);

/** A session among those of its user. */
export const listedSessionSchema = z
  .object({
    sessionId: z.string(),
    createdAt: dateTime,
    lastUsedAt: dateTime.describe('To the minute.'),
    address: z.string().describe('From where it was begun.'),
    userAgent: z.string().optional().describe('What the browser said of itself, cut after 200 characters.'),
    isCurrent: z.boolean().describe('Whether it is the session of this request.'),
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

/** A session among those of its user, as the API shows it. */
export type ListedSessionView = z.input<typeof listedSessionSchema>;

/** A page of sessions. */
export const sessionListSchema = listSchema(listedSessionSchema);
