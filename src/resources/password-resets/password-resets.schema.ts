import { z } from 'zod';
import { emailSchema } from '../accounts/email.schema.ts';
import { newPassword } from '../sessions/sessions.schema.ts';

export const passwordResetRequestSchema = z
  .strictObject({ email: emailSchema.describe('Case does not matter.') })
  .meta({ examples: [{ email: 'studio@example.org' }] });

export const passwordResetSchema = z
  .object({
    email: z.string().describe('The user who gets the new password.'),
    expiresAt: z.iso.datetime({ offset: true }),
  })
  .meta({
    id: 'PasswordReset',
    examples: [{ email: 'studio@example.org', expiresAt: '2026-03-04T06:06:07+00:00' }],
  });

export const passwordResetCompleteSchema = z
  .strictObject({ password: newPassword.describe('Must differ from the email address.') })
  .meta({ examples: [{ password: 'nine boats come home at dusk' }] });
