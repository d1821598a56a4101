import * as z from 'zod';
import { additionalCodecs } from '../../shared/additional-codecs.ts';
import { nodeRoles } from '../../shared/node-roles.ts';

const dateTime = z.iso.datetime({ offset: true });
const count = (text: string) => z.int().nonnegative().describe(text);
const percent = (text: string) => z.int().min(0).max(100).describe(text);

const programSchema = z.object({
  name: z.enum(['ffmpeg', 'ffprobe']),
  path: z.string(),
  version: z.string().describe('The version that the program reports.'),
  lacks: z.array(z.string()).optional().describe('Missing features. Absent if nothing is missing.'),
});

const nodeSchema = z.object({
  nodeId: z.string(),
  url: z.string().describe('Base address of the server.'),
  roles: z.array(z.enum(nodeRoles)),
  version: z.string(),
  startedAt: dateTime,
  state: z
    .enum(['ready', 'draining', 'unresponsive'])
    .describe(
      '`draining` takes nothing new. `unresponsive` has not reported for 12 seconds; others take over after 15.',
    ),
  isCurrent: z.boolean().describe('This server answered the request.'),
  jobs: count('Jobs that it is running.'),
  load: z
    .object({
      cores: z.int().min(1),
      machinePercent: percent('Usage of all programs on its machine.'),
      memoryTotalBytes: count('Memory of its machine.'),
      memoryFreeBytes: count('Free memory, including caches that can be reclaimed.'),
      broadcasts: count('Live broadcasts that it packages.'),
      viewers: count('Viewers that it serves.'),
    })
    .optional()
    .describe('At most ten seconds old. Absent until it has reported.'),
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
    'recording-upload-behind',
    'certificate-failed',
  ]),
  text: z.string().describe('What is wrong, and what to do.'),
});

export const serverStateSchema = z
  .object({
    version: z.string(),
    newerVersion: z
      .string()
      .optional()
      .describe('A newer version that was found, if the server looks for them (setting `updates.url`).'),
    startedAt: dateTime,
    measuredAt: dateTime.describe('When the state was measured, at most five seconds ago.'),
    cpu: z
      .object({
        cores: z.int().min(1),
        serverPercent: percent('Usage of this server, without its ffmpeg processes.'),
        machinePercent: percent('Usage of all programs on the machine.'),
      })
      .describe('Over the last five seconds. 100 means that all cores are busy.'),
    memory: z.object({
      serverBytes: count('Resident memory of this server.'),
      childrenBytes: z
        .int()
        .nonnegative()
        .optional()
        .describe('Resident memory of its ffmpeg processes. Absent if unknown.'),
      machineTotalBytes: count('Memory of the machine.'),
      machineFreeBytes: count('Free memory, including caches that can be reclaimed.'),
    }),
    disk: z
      .object({
        totalBytes: count('Size of the disk.'),
        freeBytes: count('Free space.'),
        minFreeBytes: count('Uploads are refused below this (setting `uploads.minFree`).'),
      })
      .describe('The disk of the data folder.'),
    queue: z
      .object({
        waiting: count('Not started yet, or waiting for a retry.'),
        running: count('Running.'),
        failedToday: count('Failed since midnight UTC.'),
        isPaused: z.boolean().describe('Encoding is paused while live streams need the processor.'),
      })
      .describe('Jobs for videos of all accounts.'),
    live: z.object({
      broadcasts: count('Live broadcasts of all accounts.'),
      viewers: count('Viewers of all broadcasts.'),
      recordingLagSeconds: count('Seconds of a recording that are not in object storage yet, at most.'),
    }),
    programs: z.array(programSchema).describe('Media programs.'),
    isolation: z
      .object({
        isActive: z.boolean(),
        missing: z
          .string()
          .optional()
          .describe('Why there is no sandbox, and what to do. Absent if there is one.'),
      })
      .describe(
        'The sandbox of bubblewrap in which ffmpeg and ffprobe read media (setting `ffmpeg.isolation`).',
      ),
    encoder: z
      .object({
        kind: z.enum(['software', 'nvenc', 'qsv', 'vaapi', 'videotoolbox']),
        reason: z
          .string()
          .optional()
          .describe(
            'Why no hardware encoder is used, or the last failure of the hardware. Absent if there is none.',
          ),
      })
      .describe('Encodes the renditions of live streams and videos that start now.'),
    codecs: z
      .array(z.enum(['h264', ...additionalCodecs]))
      .describe('Codecs that videos are encoded with (setting `encode.codecs`).'),
    certificate: z
      .object({
        domains: z.array(z.string()).describe('Names that it is ordered for (setting `tls.domains`).'),
        state: z
          .enum(['missing', 'valid', 'expired'])
          .describe('`missing`: HTTPS and RTMPS refuse connections until the first one is issued.'),
        expiresAt: dateTime.optional(),
        renewAt: dateTime.optional().describe('When the next one is ordered.'),
        failure: z
          .object({
            reason: z.string().describe('Why the last order failed, and what to do.'),
            uncoveredDomains: z.array(z.string()).describe('Names that the current one lacks.'),
            retryAt: dateTime,
          })
          .optional()
          .describe('Absent while all is well.'),
      })
      .optional()
      .describe('The certificate that the server orders itself. Absent without `tls.domains`.'),
    nodes: z
      .array(nodeSchema)
      .optional()
      .describe('All servers that share the PostgreSQL database, this one included. Absent with SQLite.'),
    warnings: z.array(warningSchema).describe('Problems to look at. Empty if there are none.'),
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
        live: { broadcasts: 1, viewers: 24, recordingLagSeconds: 0 },
        programs: [
          { name: 'ffmpeg', path: '/usr/bin/ffmpeg', version: '7.1', lacks: ['SRT'] },
          { name: 'ffprobe', path: '/usr/bin/ffprobe', version: '7.1' },
        ],
        isolation: { isActive: true },
        encoder: { kind: 'nvenc' },
        codecs: ['h264', 'av1'],
        warnings: [
          {
            code: 'disk-full',
            text: 'Uploads are refused: 0.9 GB of disk space is free, and 1 GB must stay free. Delete videos or free up space.',
          },
        ],
      },
    ],
  });

export type ServerStateView = z.input<typeof serverStateSchema>;
