import * as z from 'zod';
import { emailPattern, maxEmailLength, readEmail } from '../../../shared/email-address.ts';

/** An email address of a request, as its only spelling. */
export const emailSchema = z
  .string()
  .max(maxEmailLength)
  .meta({ pattern: emailPattern })
  .transform((text, context) => {
    const { email, problem } = readEmail(text);
    if (email !== undefined) return email;
    context.addIssue({ code: 'custom', message: problem });
    return z.NEVER;
  });
