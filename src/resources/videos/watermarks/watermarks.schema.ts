import * as z from 'zod';
import { listQuery, listSchema } from '../../../http/routing/pagination.ts';

export const maxWatermarkNameChars = 100;

export const watermarkChangesSchema = z
  .strictObject({
    name: z
      .string()
      .trim()
      .max(maxWatermarkNameChars)
      .nullish()
      .describe('Your name for the watermark; null unsets it.'),
  })
  .meta({ examples: [{ name: 'Harbour logo' }] });

export const watermarksQuerySchema = listQuery({}, ['createdAt']);

export const watermarkSchema = z
  .object({
    watermarkId: z.string(),
    createdAt: z.iso.datetime({ offset: true }),
    name: z.string().optional().describe('Your name for the watermark; absent when it has none.'),
  })
  .meta({
    id: 'Watermark',
    examples: [
      {
        watermarkId: 'watermark_4Kd8sLq2Wm6Xr1Tz9Bn3Vc',
        createdAt: '2026-03-04T05:06:07+00:00',
        name: 'Harbour logo',
      },
    ],
  });

export type WatermarkView = z.input<typeof watermarkSchema>;

export const watermarkListSchema = listSchema(watermarkSchema);
