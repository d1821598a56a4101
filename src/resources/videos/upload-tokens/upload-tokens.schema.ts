import * as z from 'zod';
import { listQuery, listSchema } from '../../../http/routing/pagination.ts';
import { maxTokenTtlSeconds } from '../../../shared/limits/resource-limits.ts';

export const uploadTokenCreationSchema = z
  .strictObject({
    ttl: z
      .int()
      .min(0)
      .max(maxTokenTtlSeconds)
      .default(0)
      .describe('Seconds until it expires; 0, the default, is never.'),
  })
  .meta({ examples: [{ ttl: 3_600 }] });

export const uploadTokensQuerySchema = listQuery({}, ['createdAt', 'ttl']);

export const uploadTokenSchema = z
  .object({
    token: z.string().describe('Secret: anyone who has it can upload.'),
    ttl: z.int().describe('Seconds; 0 never expires.'),
    createdAt: z.iso.datetime({ offset: true }),
    expiresAt: z.iso.datetime({ offset: true }).optional().describe('Absent when it never expires.'),
  })
  .meta({
    id: 'UploadToken',
    examples: [
      {
        token: 'to3Hg6FdSa1Po8IuYt4ReWqZ',
        ttl: 3_600,
        createdAt: '2026-03-04T05:06:07+00:00',
        expiresAt: '2026-03-04T06:06:07+00:00',
      },
    ],
  });

export type UploadTokenView = z.input<typeof uploadTokenSchema>;

export const uploadTokenListSchema = listSchema(uploadTokenSchema);
