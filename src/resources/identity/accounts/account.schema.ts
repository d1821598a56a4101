import * as z from 'zod';
import { listQuery, listSchema } from '../../../http/routing/pagination.ts';
import { scopes } from '../../../http/routing/scope.ts';
import { maxKeyPairNameLength } from './key-pair.ts';

const dateTime = z.iso.datetime({ offset: true });
const name = z.string().min(1).max(maxKeyPairNameLength);
const scopesSchema = z
  .array(z.enum(scopes))
  .min(1)
  .max(scopes.length)
  .describe(
    'Parts of the API that the keys can use: `read` returns everything except secrets, `upload` changes videos and what belongs to them, `live` changes live streams and shows stream keys, `admin` manages the account, its keys and webhooks, and includes all others.',
  );
const perMinute = z.int().optional();

export const accountSchema = z
  .object({
    accountId: z.string(),
    name: z.string().optional().describe('The name of the account, when set.'),
    email: z.string().optional().describe('The email address of the first owner.'),
    createdAt: dateTime,
    upgraded: z.boolean().describe('Whether the account can use production.'),
    operator: z.literal(true).optional().describe('Present if this is the account of the server operator.'),
    environment: z
      .enum(['sandbox', 'production'])
      .describe('The environment of the credential of this request.'),
    projectId: z.string().describe('Id of the environment in its project, which all resources belong to.'),
    projectName: z.string().describe('The name of the project.'),
    limits: z.object({
      apiKeyPairs: z.int().describe('The maximum number of API keys in each environment.'),
      webhooks: z.int().describe('The maximum number of webhooks in each environment.'),
      requestsPerMinute: z
        .object({ uploads: perMinute, writes: perMinute, reads: perMinute })
        .describe('Per project and class of request. A class that is absent has no limit.'),
      videoRestoreDays: z
        .int()
        .optional()
        .describe('How long deleted videos can be restored. Absent if the trash is turned off.'),
    }),
    ingest: z
      .object({
        rtmp: z.string(),
        rtmps: z.string().optional().describe('Absent if the server has no certificate.'),
        srt: z
          .string()
          .optional()
          .describe('Expects the stream key as `streamid`. Absent if SRT is turned off.'),
        whip: z
          .string()
          .optional()
          .describe('Expects the stream key as a bearer token. Absent if WebRTC is turned off.'),
      })
      .describe('Server addresses for encoders. The stream key is the `streamKey` of a live stream.'),
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
        projectName: 'Web shop',
        limits: {
          apiKeyPairs: 100,
          webhooks: 10,
          requestsPerMinute: { uploads: 6_000, writes: 6_000, reads: 6_000 },
        },
        ingest: {
          rtmp: 'rtmp://live.example.org/s',
          rtmps: 'rtmps://live.example.org:1936/s',
          srt: 'srt://live.example.org:6200',
          whip: 'https://live.example.org/whip',
        },
      },
    ],
  });

export type AccountView = z.input<typeof accountSchema>;

export const keyPairCreationSchema = z
  .strictObject({
    name: name.optional().describe('What the keys are for.'),
    scopes: scopesSchema.optional(),
  })
  .meta({ examples: [{ name: 'Upload page', scopes: ['read', 'upload'] }] });

export const keyPairChangesSchema = z
  .strictObject({
    name: name.nullish().describe('What the keys are for. Null removes the name.'),
    scopes: scopesSchema.optional(),
  })
  .meta({ examples: [{ name: 'Upload page', scopes: ['read', 'upload'] }] });

export const keyPairsQuerySchema = listQuery({}, ['createdAt']);

const keySchema = z
  .object({
    apiKey: z.string().optional().describe('The key. Only in the response that creates it.'),
    hint: z.string().optional().describe('The last characters of the key, if known.'),
    createdAt: dateTime,
    lastUsedAt: dateTime.optional().describe('To the minute. Absent if the key was never used.'),
  })
  .meta({ id: 'ApiKey', examples: [{ hint: 'x7Qz', createdAt: '2026-03-04T05:06:07+00:00' }] });

export const keyPairSchema = z
  .object({
    keyPairId: z.string(),
    name: z.string().optional(),
    scopes: scopesSchema,
    createdAt: dateTime,
    sandbox: keySchema.optional().describe('The sandbox key, if the pair has one.'),
    production: keySchema
      .optional()
      .describe('The production key, if the pair has one. Only production credentials see it.'),
  })
  .meta({
    id: 'ApiKeyPair',
    examples: [
      {
        keyPairId: 'kp8Yh3Ub6Tf2Rc9Ed5Wx7Qz4',
        name: 'Upload page',
        scopes: ['read', 'upload'],
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

export type KeyPairView = z.input<typeof keyPairSchema>;

export const keyPairListSchema = listSchema(keyPairSchema);
