import * as z from 'zod';
import { listQuery, listSchema } from '../../../http/routing/pagination.ts';
import { maxPasskeyNameLength } from '../../../shared/limits/resource-limits.ts';

const dateTime = z.iso.datetime({ offset: true });
const name = z.string().trim().min(1).max(maxPasskeyNameLength).describe('For example, the device.');
const base64url = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .regex(/^[A-Za-z0-9_-]*$/);
/** WebAuthn allows 1023 bytes. */
const credentialId = base64url(1_364).min(1);
const exampleId = 'bm8tc3VjaC1rZXk';

const credential = <Response extends z.ZodObject>(response: Response) =>
  z
    .object({ id: credentialId, rawId: credentialId, type: z.literal('public-key'), response })
    .describe('The credential that the browser returned, as its `toJSON()` writes it.');

export const passkeySchema = z
  .object({
    passkeyId: z.string(),
    name: z.string(),
    createdAt: dateTime,
    lastUsedAt: dateTime.optional().describe('Absent if it was never used.'),
  })
  .meta({
    id: 'Passkey',
    examples: [
      { passkeyId: 'pk8Yh3Ub6Tf2Rc9Ed5Wx7Qz4', name: 'Laptop', createdAt: '2026-03-04T05:06:07+00:00' },
    ],
  });

export type PasskeyView = z.input<typeof passkeySchema>;

export const passkeysQuerySchema = listQuery({}, ['createdAt']);
export const passkeyListSchema = listSchema(passkeySchema);

export const passkeyProofSchema = z
  .strictObject({
    password: z.string().max(1_000).describe('Your current password.'),
    code: z
      .string()
      .max(100)
      .optional()
      .describe('A code of the authenticator app or a recovery code. Required with two-factor sign-in.'),
  })
  .meta({ examples: [{ password: 'nine boats leave at dawn' }] });

export const passkeyOptionsSchema = z
  .object({
    publicKey: z
      .looseObject({ challenge: z.string() })
      .describe(
        'For `PublicKeyCredential.parseCreationOptionsFromJSON()` or `parseRequestOptionsFromJSON()`. Valid for 5 minutes.',
      ),
  })
  .meta({ id: 'PasskeyOptions', examples: [{ publicKey: { challenge: 'c29tZSBieXRlcw' } }] });

export const passkeyCreationSchema = z
  .strictObject({
    name,
    credential: credential(
      z.object({
        clientDataJSON: base64url(8_192),
        attestationObject: base64url(32_768),
        transports: z.array(z.string().max(32)).max(10).optional(),
      }),
    ),
  })
  .meta({
    examples: [
      {
        name: 'Laptop',
        credential: {
          id: exampleId,
          rawId: exampleId,
          type: 'public-key',
          response: { clientDataJSON: 'e30', attestationObject: 'oA', transports: ['internal'] },
        },
      },
    ],
  });

export type PasskeyCreation = z.output<typeof passkeyCreationSchema>;

export const passkeyChangesSchema = z.strictObject({ name }).meta({ examples: [{ name: 'Phone' }] });

export const passkeySignInSchema = z
  .strictObject({
    credential: credential(
      z.object({
        clientDataJSON: base64url(8_192),
        authenticatorData: base64url(8_192),
        signature: base64url(8_192),
        userHandle: base64url(128).nullish(),
      }),
    ),
  })
  .meta({
    examples: [
      {
        credential: {
          id: exampleId,
          rawId: exampleId,
          type: 'public-key',
          response: { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA', userHandle: 'AA' },
        },
      },
    ],
  });

export type PasskeySignIn = z.output<typeof passkeySignInSchema>;
