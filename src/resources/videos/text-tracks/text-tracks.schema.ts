import * as z from 'zod';
import { listQuery, listSchema } from '../../../http/routing/pagination.ts';
import { languageTagPattern } from '../../../shared/text/language-tag.ts';

export const textTracksQuerySchema = listQuery({}, ['language']).omit({ sortBy: true, sortOrder: true });

const languageTag = z
  .string()
  .regex(new RegExp(`^${languageTagPattern}$`))
  .describe('Language tag.');
const fields = {
  uri: z.string(),
  src: z.string().describe('URL of the WebVTT file.'),
  warnings: z
    .array(z.string())
    .optional()
    .describe('Sentences about what was mended in the uploaded file. Absent when nothing was.'),
};

export const captionSchema = z
  .object({
    ...fields,
    srclang: languageTag,
    languageName: z.string().describe('Name of the language in that language.'),
    default: z.boolean(),
    generated: z
      .boolean()
      .optional()
      .describe('True for automatic captions that nobody has edited. Otherwise absent.'),
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

export const captionListSchema = listSchema(captionSchema);

export const captionChangesSchema = z
  .strictObject({
    default: z
      .boolean()
      .optional()
      .describe('Shows these captions to viewers who chose none. Other captions are then not the default.'),
  })
  .meta({ examples: [{ default: true }] });

export const chapterSchema = z.object({ ...fields, language: languageTag }).meta({
  id: 'Chapter',
  examples: [
    {
      uri: '/videos/vi2Rk9TqLm4Xc7WdZp0HsBeN/chapters/en',
      src: 'https://media.example.org/vod/vi2Rk9TqLm4Xc7WdZp0HsBeN/chapters/en.vtt',
      language: 'en',
    },
  ],
});

export const chapterListSchema = listSchema(chapterSchema);
