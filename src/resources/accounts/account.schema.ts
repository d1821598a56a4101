import { z } from 'zod';
import { listQuery, listSchema } from '../../http/routing/pagination.ts';
import { nonEmptyText } from '../../http/routing/text-schema.ts';
import { maxKeyPairNameLength } from './key-pair.ts';

const dateTime = z.iso.datetime({ offset: true });
const name = nonEmptyText(maxKeyPairNameLength);
const perMinute = z.int().optional();

/** The account of a caller. */
export const accountSchema = z
  .object({
    accountId: z.string(),
    email: z.string().optional().describe('Of the first user.'),
    createdAt: dateTime,
    upgraded: z.boolean().describe('Whether production can be used.'),
    operator: z.literal(true).optional().describe('There when it is the account of whoever runs the server.'),
    environment: z.enum(['sandbox', 'production']).describe('Of the credential of this request.'),
    projectId: z.string().describe('Of the environment: what all resources belong to.'),
    limits: z.object({
      apiKeyPairs: z.int().describe('The maximum number of API keys in each environment.'),
      webhooks: z.int().describe('The maximum number of webhooks in each environment.'),
      requestsPerMinute: z
        .object({ uploads: perMinute, writes: perMinute, reads: perMinute })
        .describe('By class of request and project; one that is absent has no limit.'),
      videoRestoreDays: z
        .int()
        .optional()
        .describe('For so long deleted videos can be restored; absent where they are gone at once.'),
    }),
    ingest: z
      .object({
        rtmp: z.string(),
        rtmps: z.string().optional().describe('Absent where the server has no certificate for it.'),
      })
      .describe('Where encoders publish, with the `streamKey` of a live stream as their key.'),
  })
  .meta({
    id: 'Account',
    examples: [
      {
        accountId: 'ac5Tg2Hn8Jm4Kw7Lq1Pz3Xc6',
        email: 'studio@example.org',
        createdAt: '2026-03-04T05:06:07+00:00',
        upgraded: true,
        environment: 'production',
        projectId: 'pr9Bv4Nc2Mx7Za1Sd6Fg8Hj3',
        limits: {
          apiKeyPairs: 100,
          webhooks: 10,
          requestsPerMinute: { uploads: 6_000, writes: 6_000, reads: 6_000 },
        },
        ingest: { rtmp: 'rtmp://live.example.org/s', rtmps: 'rtmps://live.example.org:1936/s' },
      },
    ],
  });

/** The account of a caller as the API shows it. */
export type AccountView = z.input<typeof accountSchema>;

/** Body of `POST /account/api-keys`. */
export const keyPairCreationSchema = z
  .strictObject({ name: name.optional().describe('What it is for.') })
  .meta({ examples: [{ name: 'Upload page' }] });

/** Body of `PATCH /account/api-keys/{keyPairId}`. */
export const keyPairChangesSchema = z
  .strictObject({ name: name.nullish().describe('What it is for; null takes the name away.') })
  .meta({ examples: [{ name: 'Upload page' }] });

/** Query of `GET /account/api-keys`. */
export const keyPairsQuerySchema = listQuery({}, ['createdAt']);

const keySchema = z
  .object({
    apiKey: z.string().optional().describe('The key itself: only in the answer of the call that made it.'),
    hint: z.string().optional().describe('Its last characters, where they are known.'),
    createdAt: dateTime,
    lastUsedAt: dateTime.optional().describe('To the minute; absent when it was never used.'),
  })
  .meta({ id: 'ApiKey', examples: [{ hint: 'x7Qz', createdAt: '2026-03-04T05:06:07+00:00' }] });

/** A pair of API keys as far as the caller's credential reaches. */
export const keyPairSchema = z
  .object({
    keyPairId: z.string(),
    name: z.string().optional(),
    createdAt: dateTime,
    sandbox: keySchema.optional().describe('The sandbox key, if the pair has one.'),
    production: keySchema
      .optional()
      .describe('The production key, if the pair has one. Shown to production credentials only.'),
  })
  .meta({
    id: 'ApiKeyPair',
    examples: [
      {
        keyPairId: 'kp8Yh3Ub6Tf2Rc9Ed5Wx7Qz4',
        name: 'Upload page',
        createdAt: '2026-03-04T05:06:07+00:00',
        sandbox: { hint: 'x7Qz', createdAt: '2026-03-04T05:06:07+00:00' },
        production: {
          hint: 'f2Rc',
          createdAt: '2026-03-04T05:06:07+00:00',
          lastUsedAt: '2026-03-05T08:00:00+00:00',
        },
      },
    ],
  });

/** A pair of API keys as the API shows it. */
export type KeyPairView = z.input<typeof keyPairSchema>;

/** A page of pairs of API keys. */
export const keyPairListSchema = listSchema(keyPairSchema);
