import * as z from 'zod';
import { emailSchema } from '../accounts/email.schema.ts';
import { passkeySchema } from '../passkeys/passkeys.schema.ts';
import { listedSessionSchema, newPassword } from '../sessions/sessions.schema.ts';

export const passwordResetRequestSchema = z
  .strictObject({ email: emailSchema.describe('Case does not matter.') })
  .meta({ examples: [{ email: 'studio@example.org' }] });

export const passwordResetSchema = z
  .object({
    email: z.string().describe('The user who gets the new password.'),
    emailVerified: z
      .boolean()
      .describe(
        'False if nobody has proved the address yet. The new password then proves it, and nothing can be kept.',
      ),
    expiresAt: z.iso.datetime({ offset: true }),
    passkeys: z.array(passkeySchema).describe('End with the new password unless they are kept.'),
    sessions: z
      .array(listedSessionSchema.omit({ isCurrent: true }).meta({ id: undefined, examples: undefined }))
      .describe('End with the new password unless they are kept.'),
  })
  .meta({
    id: 'PasswordReset',
    examples: [
      {
        email: 'studio@example.org',
        emailVerified: true,
        expiresAt: '2026-03-04T06:06:07+00:00',
        passkeys: [
          { passkeyId: 'pk7Rt4Yu9Io2Pa5Sd8Fg1Hj6', name: 'Laptop', createdAt: '2026-01-04T05:06:07+00:00' },
        ],
        sessions: [],
      },
    ],
  });

export type PasswordResetView = z.input<typeof passwordResetSchema>;

const keptIds = z.array(z.string().max(64)).max(100);

export const passwordResetCompleteSchema = z
  .strictObject({
    password: newPassword.describe('Must differ from the email address.'),
    keepPasskeys: keptIds
      .optional()
      .describe('Ids of passkeys that stay. Ignored for an unverified address.'),
    keepSessions: keptIds
      .optional()
      .describe('Ids of sessions that stay. Ignored for an unverified address.'),
  })
  .meta({ examples: [{ password: 'nine boats come home at dusk' }] });
