import * as z from 'zod';
import { listQuery, listSchema } from '../../../../http/routing/pagination.ts';
import { languageTagPattern, languageTagProblem } from '../../../../shared/text/language-tag.ts';
import { maxTrackTitleChars } from '../../../../shared/text/track-title.ts';

export const audioTracksQuerySchema = listQuery({}, ['position']).omit({ sortBy: true, sortOrder: true });

export const audioTrackSchema = z
  .object({
    uri: z.string(),
    audioTrackId: z.string(),
    name: z.string().describe('The name in menus.'),
    language: z.string().nullable().describe('Language tag; null if it is not known.'),
    channels: z.int().nullable().describe('Channels of the source; null if they are not known.'),
    codec: z.string().nullable().describe('Codec of the source; null if it is not known.'),
    default: z.boolean().describe('True for the track that viewers hear unless they choose another.'),
    position: z.int().describe('Position in menus; the first is 1.'),
    status: z
      .enum(['waiting', 'encoding', 'encoded', 'failed'])
      .describe('`failed`: the track cannot be decoded, and the video works without it.'),
  })
  .meta({
    id: 'AudioTrack',
    examples: [
      {
        uri: '/videos/vi2Rk9TqLm4Xc7WdZp0HsBeN/audio-tracks/2',
        audioTrackId: '2',
        name: 'Français',
        language: 'fr',
        channels: 6,
        codec: 'ac3',
        default: false,
        position: 2,
        status: 'encoded',
      },
    ],
  });

export const audioTrackListSchema = listSchema(audioTrackSchema);

export const audioTrackChangesSchema = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(maxTrackTitleChars)
      .nullish()
      .describe('The name in menus. Null uses the name of the language.'),
    language: z
      .string()
      .superRefine((tag, context) => {
        const message = languageTagProblem(tag);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      })
      .meta({ pattern: `^${languageTagPattern}$` })
      .nullish()
      .describe('Spoken language, such as `fr` or `fr-CA`. Null: not known.'),
    default: z.literal(true).optional().describe('Makes this the default track instead of another one.'),
    position: z.int().min(1).max(100).optional().describe('Moves the track in menus; the first is 1.'),
  })
  .meta({ examples: [{ name: 'Commentary', language: 'en', position: 2 }] });

export type AudioTrackView = z.input<typeof audioTrackSchema>;
export type AudioTrackChanges = z.output<typeof audioTrackChangesSchema>;
