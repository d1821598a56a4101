import * as z from 'zod';
import { listQuery, listSchema } from '../../../http/routing/pagination.ts';
import { maxSigningKeyNameLength, signingAlgorithms } from './signing-key.ts';

const maxPublicKeyChars = 10_000;
const examplePublicKey =
  '-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEVs/o5+uQbTjL3chynL4wXgUg2R9\nq9UU8I5mEovUf86QZ7kOBIjJwqnzD1omageEHWwHdBO6B+dFabmdT9POxg==\n-----END PUBLIC KEY-----\n';

export const signingKeyCreationSchema = z
  .strictObject({
    name: z.string().min(1).max(maxSigningKeyNameLength).describe('What the key is for.'),
    algorithm: z
      .enum(signingAlgorithms)
      .optional()
      .describe('`ES256` unless given. With a `publicKey`, that of the key.'),
    publicKey: z
      .union([
        z.string().min(1).max(maxPublicKeyChars).meta({ pattern: '-----BEGIN ' }),
        z.record(z.string().max(100), z.unknown()),
      ])
      .optional()
      .describe(
        'A public key that you made yourself: PEM, or a JSON Web Key. Without it, the server makes a pair of keys and returns the private one.',
      ),
  })
  .meta({ examples: [{ name: 'Website', algorithm: 'ES256' }] });

export type SigningKeyCreation = z.output<typeof signingKeyCreationSchema>;

export const signingKeysQuerySchema = listQuery({}, ['createdAt']);

export const signingKeySchema = z
  .object({
    signingKeyId: z.string().describe('The `kid` in the header of tokens.'),
    name: z.string(),
    algorithm: z.enum(signingAlgorithms).describe('The `alg` in the header of tokens.'),
    publicKey: z.string().describe('PEM.'),
    privateKey: z
      .string()
      .optional()
      .describe('PEM (PKCS #8). Only in the response that creates the key; the server does not store it.'),
    createdAt: z.iso.datetime({ offset: true }),
  })
  .meta({
    id: 'SigningKey',
    examples: [
      {
        signingKeyId: 'sk3Fh7Kq2Lm9Np4Rs6Tv8Wx1',
        name: 'Website',
        algorithm: 'ES256',
        publicKey: examplePublicKey,
        createdAt: '2026-03-04T05:06:07+00:00',
      },
    ],
  });

export type SigningKeyView = z.input<typeof signingKeySchema>;

export const signingKeyListSchema = listSchema(signingKeySchema);
