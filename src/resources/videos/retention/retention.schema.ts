import * as z from 'zod';

const maxKeepDays = 36_500;

export const keepDays = z.int().min(1).max(maxKeepDays);

export const retentionChangesSchema = z
  .strictObject({
    keepVideosDays: keepDays
      .nullish()
      .describe('Days after which a new video is deleted; null keeps new videos until you delete them.'),
    applyToExisting: z
      .boolean()
      .optional()
      .describe(
        '`true`: videos that you already have follow, too. With a number, those without an `expiresAt` get one: that many days after their creation, and 24 hours from now at the earliest. With null, all of them lose theirs.',
      ),
  })
  .refine(({ keepVideosDays, applyToExisting }) => applyToExisting !== true || keepVideosDays !== undefined, {
    message: 'Set keepVideosDays, too.',
    path: ['applyToExisting'],
  })
  .meta({
    dependentSchemas: {
      applyToExisting: {
        anyOf: [
          { properties: { applyToExisting: { const: false } } },
          { properties: { keepVideosDays: {} }, required: ['keepVideosDays'] },
        ],
      },
    },
    examples: [{ keepVideosDays: 90 }],
  });

export type RetentionChanges = z.output<typeof retentionChangesSchema>;

export const retentionSchema = z
  .object({
    keepVideosDays: z.int().nullable().describe('Null: new videos are kept until you delete them.'),
    next: z
      .array(
        z.object({
          videoId: z.string(),
          title: z.string(),
          expiresAt: z.iso.datetime({ offset: true }),
        }),
      )
      .describe('The videos that are deleted next, in that order, at most 10.'),
  })
  .meta({
    id: 'Retention',
    examples: [
      {
        keepVideosDays: 90,
        next: [
          {
            videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN',
            title: 'Harbour at dawn',
            expiresAt: '2026-06-02T05:06:07+00:00',
          },
        ],
      },
    ],
  });

export type RetentionView = z.input<typeof retentionSchema>;
