import * as z from 'zod';
import { listQuery, listSchema } from '../../../http/routing/pagination.ts';

export const watermarksQuerySchema = listQuery({}, ['createdAt']);

export const watermarkSchema = z
  .object({
    watermarkId: z.string(),
    createdAt: z.iso.datetime({ offset: true }),
  })
  .meta({
    id: 'Watermark',
    examples: [{ watermarkId: 'watermark_4Kd8sLq2Wm6Xr1Tz9Bn3Vc', createdAt: '2026-03-04T05:06:07+00:00' }],
  });

export type WatermarkView = z.input<typeof watermarkSchema>;

export const watermarkListSchema = listSchema(watermarkSchema);
