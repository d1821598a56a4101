import * as z from 'zod';

const transcript = 'True generates captions of new videos.';
const transcriptSummary = 'True generates summaries of new videos.';
const recordings = 'False: recordings of live streams get neither, only uploaded and imported videos do.';

export const videoDefaultsChangesSchema = z
  .strictObject({
    transcript: z.boolean().optional().describe(`${transcript} Needs the setting \`transcription.url\`.`),
    transcriptSummary: z
      .boolean()
      .optional()
      .describe(`${transcriptSummary} Needs the setting \`summary.model\`.`),
    recordings: z.boolean().optional().describe(recordings),
  })
  .meta({ examples: [{ transcript: true, recordings: false }] });

export const videoDefaultsSchema = z
  .object({
    transcript: z.boolean().describe(transcript),
    transcriptSummary: z.boolean().describe(transcriptSummary),
    recordings: z.boolean().describe(recordings),
    available: z
      .object({ transcript: z.boolean(), transcriptSummary: z.boolean() })
      .describe('What this server can generate. A default that it cannot generate has no effect.'),
  })
  .meta({
    id: 'VideoDefaults',
    examples: [
      {
        transcript: true,
        transcriptSummary: false,
        recordings: false,
        available: { transcript: true, transcriptSummary: false },
      },
    ],
  });

export type VideoDefaultsView = z.input<typeof videoDefaultsSchema>;
