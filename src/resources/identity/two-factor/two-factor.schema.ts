import * as z from 'zod';

const password = z.string().max(1_000).describe('Your current password.');
const code = z.string().min(1).max(100);
const examplePassword = 'nine boats leave at dawn';

export const twoFactorSchema = z
  .object({
    enabled: z.boolean().describe('Whether a sign-in with your password needs a code, too.'),
    enabledAt: z.iso.datetime({ offset: true }).optional(),
    recoveryCodesLeft: z
      .int()
      .optional()
      .describe('How many recovery codes were not used. Absent if two-factor sign-in is off.'),
  })
  .meta({
    id: 'TwoFactor',
    examples: [{ enabled: true, enabledAt: '2026-03-04T05:06:07+00:00', recoveryCodesLeft: 10 }],
  });

export type TwoFactorView = z.input<typeof twoFactorSchema>;

export const twoFactorStartSchema = z
  .strictObject({ password })
  .meta({ examples: [{ password: examplePassword }] });

export const enrollmentSchema = z
  .object({
    secret: z.string().describe('The secret in Base32, for an authenticator app that cannot scan.'),
    uri: z.string().describe('The secret for a QR code, as `otpauth:` URI.'),
  })
  .meta({
    id: 'TwoFactorEnrollment',
    examples: [
      {
        secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
        uri: 'otpauth://totp/Millrace:studio%40example.org?issuer=Millrace&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30',
      },
    ],
  });

export const twoFactorConfirmationSchema = z
  .strictObject({ code: code.describe('The code that the authenticator app shows.') })
  .meta({ examples: [{ code: '492039' }] });

export const twoFactorProofSchema = z
  .strictObject({
    password,
    code: code.describe('A code of the authenticator app, or a recovery code.'),
  })
  .meta({ examples: [{ password: examplePassword, code: '492039' }] });

export const recoveryCodesSchema = z
  .object({
    recoveryCodes: z
      .array(z.string())
      .describe('Only in this response. Each works once in the place of a code.'),
  })
  .meta({ id: 'RecoveryCodes', examples: [{ recoveryCodes: ['k7qm-2xvp-9dtr-w4hn'] }] });
