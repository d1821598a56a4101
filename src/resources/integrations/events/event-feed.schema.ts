import * as z from 'zod';
import { feedTypes } from '../../../events/feed/feed-message.ts';

const maxIdLength = 64;
const typeNames = feedTypes.map(type => type.replaceAll('.', String.raw`\.`)).join('|');

export const eventFeedQuery = z.strictObject({
  lastEventId: z
    .string()
    .regex(/^\d{1,15}$/, 'This value should be the id of an event.')
    .optional()
    .describe('Send the events after this one first. Only new events when absent.')
    .meta({ examples: ['1287'] }),
  types: z
    .string()
    .refine(
      text => parseTypes(text).every(type => feedTypes.includes(type)),
      `This value should be a list of ${feedTypes.map(type => `"${type}"`).join(', ')}, with commas between them.`,
    )
    .meta({ pattern: String.raw`^\s*(?:${typeNames})\s*(?:,\s*(?:${typeNames})\s*)*$` })
    .optional()
    .describe('Comma-separated types. All when absent.')
    .meta({ examples: ['video.encoding.quality.completed,video.encoding.progress'] }),
  subjectId: z
    .string()
    .min(1)
    .max(maxIdLength)
    .optional()
    .describe('Only messages about this video or live stream.')
    .meta({ examples: ['vi2Rk9TqLm4Xc7WdZp0HsBeN'] }),
});

export function parseTypes(text: string): string[] {
  return text.split(',').map(type => type.trim());
}
