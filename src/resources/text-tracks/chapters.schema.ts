import { z } from 'zod';
import { listSchema } from '../../http/routing/pagination.ts';
import { languageTagSchema } from './captions.schema.ts';

/** Chapters in answers. */
export const chapterSchema = z
  .object({
    uri: z.string(),
    src: z.string().describe('Address of the WebVTT file.'),
    language: languageTagSchema,
  })
  .meta({
    id: 'Chapter',
    examples: [
      {
        uri: '/videos/vi2Rk9TqLm4Xc7WdZp0HsBeN/chapters/en',
        src: 'https://media.example.org/vod/vi2Rk9TqLm4Xc7WdZp0HsBeN/chapters/en.vtt',
        language: 'en',
      },
    ],
  });

/** Chapters as the API shows them. */
export type ChapterView = z.input<typeof chapterSchema>;

/** A page of chapters. */
export const chapterListSchema = listSchema(chapterSchema);
