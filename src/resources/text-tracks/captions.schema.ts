import { z } from 'zod';
import { listQuery, listSchema } from '../../http/routing/pagination.ts';
import { languageTagPattern } from '../../shared/text/language-tag.ts';

/** Query of the lists of text tracks: pages alone. */
export const textTracksQuerySchema = listQuery({}, ['language']).omit({ sortBy: true, sortOrder: true });

/** Body of `PATCH /videos/{videoId}/captions/{language}`. */
export const captionChangesSchema = z
  .strictObject({
    default: z
      .boolean()
      .optional()
      .describe('Whether these captions are shown unless a viewer chose others; takes that from any others.'),
  })
  .meta({ examples: [{ default: true }] });

/** The language of a text track, in answers. */
export const languageTagSchema = z
  .string()
  .regex(new RegExp(`^${languageTagPattern}$`))
  .describe('Language tag.');

/** Captions in answers. */
export const captionSchema = z
  .object({
    uri: z.string(),
    src: z.string().describe('Address of the WebVTT file.'),
    srclang: languageTagSchema,
    languageName: z.string().describe('What speakers call the language.'),
    default: z.boolean(),
  })
  .meta({
    id: 'Caption',
    examples: [
      {
        uri: '/videos/vi2Rk9TqLm4Xc7WdZp0HsBeN/captions/fr-CA',
        src: 'https://media.example.org/vod/vi2Rk9TqLm4Xc7WdZp0HsBeN/captions/fr-CA.vtt',
        srclang: 'fr-CA',
        languageName: 'Français (Canada)',
        default: false,
      },
    ],
  });

/** Captions as the API shows them. */
export type CaptionView = z.input<typeof captionSchema>;

/** A page of captions. */
export const captionListSchema = listSchema(captionSchema);
