import * as z from 'zod';
import { listQuery, listSchema } from '../../../http/routing/pagination.ts';
import { maxTakeaways, summaryStatuses } from './summary.ts';

const maxAbstractLength = 10_000;
const maxTakeawayLength = 2_000;

const dateTime = z.iso.datetime({ offset: true });

export const summaryCreationSchema = z
  .strictObject({
    videoId: z.string().min(1).describe('The video to summarize.'),
    origin: z
      .enum(['api', 'auto'])
      .optional()
      .describe(
        '`api` (default): you send the text. `auto`: it is generated from the captions of the video, which are generated first if there are none. Needs the setting `summary.model`.',
      ),
    attributes: z
      .array(z.enum(['abstract', 'takeaways']))
      .max(2)
      .optional()
      .describe('What to generate. Default: both.'),
  })
  .meta({ examples: [{ videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN' }] });

export type SummaryCreation = z.output<typeof summaryCreationSchema>;

export const summariesQuerySchema = listQuery(
  {
    videoId: z.string().optional().describe('The summary of this video.'),
    origin: z.enum(['api', 'auto']).optional().describe('Summaries of this origin.'),
    sourceStatus: z.enum(summaryStatuses).optional().describe('Summaries with this status.'),
  },
  ['createdAt', 'updatedAt', 'videoId'],
);

export const summarySchema = z
  .object({
    summaryId: z.string(),
    createdAt: dateTime,
    updatedAt: dateTime,
    videoId: z.string(),
    origin: z.enum(['api', 'auto']).describe('`auto`: the text is generated.'),
    sourceStatus: z
      .enum(summaryStatuses)
      .describe(
        '`missing` until its text is sent, then `completed`. A generated one is `waiting`, and at last `completed`, `failed`, or `unprocessable` without speech.',
      ),
    failure: z
      .string()
      .optional()
      .describe(
        'The reason why the text could not be generated. Delete the summary, and create it again once the reason is gone.',
      ),
  })
  .meta({
    id: 'Summary',
    examples: [
      {
        summaryId: 'summary_1Qa9Ws8Ed7Rf6Tg5Yh4Uj3',
        createdAt: '2026-03-04T05:06:07+00:00',
        updatedAt: '2026-03-04T05:06:07+00:00',
        videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN',
        origin: 'api',
        sourceStatus: 'missing',
      },
    ],
  });

export type SummaryView = z.input<typeof summarySchema>;

export const summaryListSchema = listSchema(summarySchema);

const takeaways = z.array(z.string().min(1).max(maxTakeawayLength)).max(maxTakeaways);
const sourceExample = {
  abstract: 'The harbour wakes: boats leave one after the other while the light comes up.',
  takeaways: ['Boats leave at five.', 'The light comes from the east.', 'The quay is empty by six.'],
};

export const summarySourceChangesSchema = z
  .strictObject({
    abstract: z.string().min(1).max(maxAbstractLength).optional().describe('What the video is about.'),
    takeaways: takeaways.optional().describe('Points in the order of the video. Replaces all.'),
  })
  .meta({ examples: [sourceExample] });

export const summarySourceSchema = z
  .object({ abstract: z.string().optional(), takeaways: z.array(z.string()).max(maxTakeaways).optional() })
  .meta({ id: 'SummarySource', examples: [sourceExample] });

export type SummarySourceView = z.input<typeof summarySourceSchema>;
