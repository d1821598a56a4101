import { z } from 'zod';

const dateTime = z.iso.datetime({ offset: true });
const count = (text: string) => z.int().nonnegative().describe(text);
const percent = (text: string) => z.int().min(0).max(100).describe(text);

const programSchema = z.object({
  name: z.enum(['ffmpeg', 'ffprobe']),
  path: z.string(),
  version: z.string().describe('As it names itself.'),
  lacks: z
    .array(z.string())
    .optional()
    .describe('What cannot be done with it; absent when nothing is missing.'),
});

const warningSchema = z.object({
  code: z.enum([
    'disk-full',
    'disk-nearly-full',
    'memory-low',
    'cpu-busy',
    'encoding-paused',
    'queue-long',
    'program-lacks',
  ]),
  text: z.string().describe('What is wrong and what to do, for a person.'),
});

/** How the server is. */
export const serverStateSchema = z
  .object({
    version: z.string(),
    startedAt: dateTime,
    measuredAt: dateTime.describe('When all of this was so: up to five seconds ago.'),
    cpu: z
      .object({
        cores: z.int().min(1),
        serverPercent: percent('What this server takes itself, without the programs that it runs.'),
        machinePercent: percent('What all programs of the machine take.'),
      })
      .describe('In the last five seconds or so; 100 is all cores busy.'),
    memory: z.object({
      serverBytes: count('Resident, of this server itself.'),
      childrenBytes: z
        .int()
        .nonnegative()
        .optional()
        .describe('Resident, of the ffmpeg processes that it runs; absent where that is not known.'),
      machineTotalBytes: count('Of the machine.'),
      machineFreeBytes: count('What programs can still get, with what caches give back.'),
    }),
    disk: z
      .object({
        totalBytes: count('Its size.'),
        freeBytes: count('What can still be written.'),
        minFreeBytes: count('Below this, uploads are refused: the setting `uploads.minFree`.'),
      })
      .describe('The disk of the data folder.'),
    queue: z
      .object({
        waiting: count('Not begun yet, or waiting for another try.'),
        running: count('Under way.'),
        failedToday: count('Given up since midnight, UTC.'),
        isPaused: z.boolean().describe('Encoding stands still while live streams need the processor.'),
      })
      .describe('Jobs: what is done with videos of all accounts.'),
    live: z.object({
      broadcasts: count('Under way, of all accounts.'),
      viewers: count('Of all of them.'),
    }),
    programs: z.array(programSchema).describe('What media is worked on with.'),
    warnings: z.array(warningSchema).describe('What somebody should look at; empty when all is well.'),
  })
  .meta({
    id: 'ServerState',
    examples: [
      {
        version: '0.1.0',
        startedAt: '2026-03-04T05:06:07+00:00',
        measuredAt: '2026-03-04T08:30:00+00:00',
        cpu: { cores: 4, serverPercent: 4, machinePercent: 41 },
        memory: {
          serverBytes: 190_000_000,
          childrenBytes: 410_000_000,
          machineTotalBytes: 8_000_000_000,
          machineFreeBytes: 5_200_000_000,
        },
        disk: { totalBytes: 500_000_000_000, freeBytes: 900_000_000, minFreeBytes: 1_000_000_000 },
        queue: { waiting: 2, running: 1, failedToday: 0, isPaused: false },
        live: { broadcasts: 1, viewers: 24 },
        programs: [
          { name: 'ffmpeg', path: '/usr/bin/ffmpeg', version: '7.1', lacks: ['SRT'] },
          { name: 'ffprobe', path: '/usr/bin/ffprobe', version: '7.1' },
        ],
        warnings: [
          {
            code: 'disk-full',
            text: 'Uploads are refused: 0.9 GB of the disk are free, and 1 GB must stay free. Delete videos or make room.',
          },
        ],
      },
    ],
  });

/** How the server is, as the API shows it. */
export type ServerStateView = z.input<typeof serverStateSchema>;
