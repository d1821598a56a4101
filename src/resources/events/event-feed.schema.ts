import { z } from 'zod';
import { feedTypes } from '../../events/feed/feed-message.ts';

const maxIdLength = 64;

/** The query of `GET /events`. */
export const eventFeedQuery = z.strictObject({
  lastEventId: z
    .string()
    .regex(/^\d{1,15}$/, 'This value should be the id of an event.')
    .optional()
    .describe('Events after this one are told first. Without it, those from now on are told.')
    .meta({ examples: ['1287'] }),
  types: z
    .string()
    .refine(
      text => parseTypes(text).every(type => feedTypes.includes(type)),
      `This value should be a list of ${feedTypes.map(type => `"${type}"`).join(', ')}, with commas between them.`,
    )
    .optional()
    .describe('Types of what is told, with commas between them; all unless given.')
    .meta({ examples: ['video.encoding.quality.completed,video.encoding.progress'] }),
  subjectId: z
    .string()
    .min(1)
    .max(maxIdLength)
    .optional()
    .describe('Only what is told of this video or live stream.')
    .meta({ examples: ['vi2Rk9TqLm4Xc7WdZp0HsBeN'] }),
});

/** The names in a list with commas. */
export function parseTypes(text: string): string[] {
  return text.split(',').map(type => type.trim());
}
