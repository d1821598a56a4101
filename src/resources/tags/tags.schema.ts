import { z } from 'zod';
import { listQuery, listSchema } from '../../http/routing/pagination.ts';

const maxSearchLength = 1_024;
const sortFields = ['value', 'videoCount'] as const;

/** Query of `GET /tags`. */
export const tagsQuerySchema = listQuery(
  {
    value: z
      .string()
      .max(maxSearchLength)
      .optional()
      .describe('Those with this somewhere in them; case and accents do not matter.'),
  },
  sortFields,
).extend({
  sortBy: z.enum(sortFields).default('value').describe('Field to sort by; `value` when absent.'),
});

/** A tag in answers. */
export const tagSchema = z
  .object({
    value: z.string(),
    videoCount: z.int().describe('Videos that have it, without discarded ones.'),
  })
  .meta({ id: 'Tag', examples: [{ value: 'drone', videoCount: 4 }] });

/** A tag as the API shows it. */
export type TagView = z.input<typeof tagSchema>;

/** A page of tags. */
export const tagListSchema = listSchema(tagSchema);
