import * as z from 'zod';
import { listQuery, listSchema } from '../../../http/routing/pagination.ts';

const maxSearchLength = 1_024;
const sortFields = ['value', 'videoCount'] as const;

export const tagsQuerySchema = listQuery(
  {
    value: z
      .string()
      .max(maxSearchLength)
      .optional()
      .describe('Tags that contain this text. Case and accents do not matter.'),
  },
  sortFields,
).extend({
  sortBy: z.enum(sortFields).default('value').describe('Field to sort by; `value` when absent.'),
});

const tagSchema = z
  .object({
    value: z.string(),
    videoCount: z.int().describe('Number of videos outside the trash that have it.'),
  })
  .meta({ id: 'Tag', examples: [{ value: 'drone', videoCount: 4 }] });

export const tagListSchema = listSchema(tagSchema);
