import * as z from 'zod';
import { type CheckName, checkTitles, findingStates } from './finding.ts';

const findingSchema = z.object({
  check: z.enum(Object.keys(checkTitles) as [CheckName, ...CheckName[]]).describe('Name of the check.'),
  title: z.string().describe('The same for people.'),
  state: z.enum(findingStates).describe('`skipped` could not be checked here.'),
  text: z.string().describe('What was found.'),
  why: z.string().optional().describe('What follows from it. Absent if all is well.'),
  mend: z.string().optional().describe('The command or step that mends it. Absent if all is well.'),
  facts: z
    .record(z.string(), z.union([z.number(), z.boolean()]))
    .optional()
    .describe('Measurements.'),
});

export const checksSchema = z
  .object({
    checkedAt: z.iso.datetime({ offset: true }),
    findings: z.array(findingSchema),
  })
  .meta({
    id: 'ServerChecks',
    examples: [
      {
        checkedAt: '2026-03-04T05:06:07+00:00',
        findings: [
          {
            check: 'disk-speed',
            title: 'Disk speed',
            state: 'warning',
            text: 'Writes 12 MB per second, and takes 80.4 ms to make a change durable.',
            why: 'Live segments, recordings and uploads share this speed: broadcasts stall when it is used up.',
            mend: 'Move the data folder to an SSD (MILLRACE_DATA_DIR), and keep it off network file systems.',
            facts: { bytesPerSecond: 12_000_000, syncMs: 80 },
          },
        ],
      },
    ],
  });

export type ChecksView = z.input<typeof checksSchema>;

export const recentLogSchema = z
  .object({ lines: z.array(z.string()).describe('Lines of JSON, the oldest first.') })
  .meta({
    id: 'RecentLog',
    examples: [
      {
        lines: [
          '{"time":"2026-03-04T05:06:07.000Z","level":"info","component":"main","event":"ready","http":8080}',
        ],
      },
    ],
  });
