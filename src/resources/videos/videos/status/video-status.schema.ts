import * as z from 'zod';
import { additionalCodecs } from '../../../../shared/additional-codecs.ts';
import { qualities } from '../../../../shared/qualities.ts';

const ingestSchema = z.object({
  status: z
    .enum(['uploading', 'uploaded', 'ingesting', 'ingested', 'failed'])
    .describe(
      '`uploading`, then `uploaded`; or `ingesting`, then `ingested`. `failed`: see `encoding.failure`; retry the video, or upload another file.',
    ),
  filesize: z.int().nullable().describe('Bytes; null until the source is complete.'),
  receivedBytes: z
    .array(z.object({ from: z.int(), to: z.int(), total: z.int() }))
    .describe('One entry for each range of bytes that arrived.'),
  receivedParts: z
    .object({ parts: z.array(z.int()), total: z.int().nullable() })
    .optional()
    .describe('The parts that arrived, for an upload by part; `total` is null until it is known.'),
});

const qualitySchema = z.object({
  type: z.enum(['hls', 'mp4']),
  quality: z.enum(qualities),
  status: z.enum(['waiting', 'encoding', 'encoded', 'failed']),
  progress: z.int().min(0).max(100).describe('Percent.'),
});

const codecQualitySchema = qualitySchema
  .omit({ type: true })
  .extend({ codec: z.enum(additionalCodecs) })
  .meta({ description: 'An HLS rendition in another codec than H.264.' });

const metadataSchema = z.object({
  width: z.int().nullable(),
  height: z.int().nullable(),
  bitrate: z.number().nullable().describe('kbit/s.'),
  duration: z
    .int()
    .nullable()
    .describe('Seconds: of the clip, when there is one; of the encoded video, once the encoding is done.'),
  framerate: z.int().nullable(),
  samplerate: z.int().nullable(),
  videoCodec: z.string().nullable(),
  audioCodec: z.string().nullable(),
  aspectRatio: z.string().nullable(),
  subtitles: z
    .array(
      z.object({
        codec: z.string(),
        language: z.string().nullable(),
        title: z.string().nullable(),
        status: z
          .enum(['captions', 'skipped'])
          .describe(
            '`captions`: the track becomes captions of the video, unless there are some of that language.',
          ),
        reason: z.string().nullable().describe('The reason why the track is skipped.'),
      }),
    )
    .optional()
    .describe('Subtitle tracks of the source. Absent without any.'),
  closedCaptions: z
    .boolean()
    .optional()
    .describe('True if the video has CEA-608 or CEA-708 captions. Otherwise absent.'),
});

const transcriptSchema = z.object({
  status: z
    .enum(['none', 'waiting', 'processing', 'completed', 'failed'])
    .describe('`none`: not requested. `waiting`: for the file, or for its turn.'),
  progress: z.int().min(0).max(100).describe('Percent.'),
  language: z.string().optional().describe('Language tag of the captions, once they are completed.'),
  failure: z
    .string()
    .optional()
    .describe('The reason why there are no captions. Request them again once it is gone.'),
});

export const videoStatusSchema = z
  .object({
    ingest: ingestSchema.optional().describe('Absent until something arrives.'),
    encoding: z.object({
      playable: z.boolean(),
      qualities: z.array(qualitySchema),
      additionalQualities: z
        .array(codecQualitySchema)
        .optional()
        .describe(
          'HLS renditions in further codecs (setting `encode.codecs`), which are encoded after `qualities`. Absent if there are none.',
        ),
      metadata: metadataSchema.describe('Properties of the source; null until they are known.'),
      failure: z.string().optional().describe('The reason why the source cannot be encoded.'),
      delay: z
        .string()
        .optional()
        .describe(
          'The fault of the server for which the work waits. It is tried again, with growing delays.',
        ),
    }),
    transcript: transcriptSchema
      .optional()
      .describe('Automatic captions. Absent if this server generates none, and none were requested.'),
  })
  .meta({
    id: 'VideoStatus',
    examples: [
      {
        ingest: {
          status: 'uploaded',
          filesize: 10_546_620,
          receivedBytes: [],
          receivedParts: { parts: [1, 2, 3], total: 3 },
        },
        encoding: {
          playable: true,
          qualities: [
            { type: 'hls', quality: '240p', status: 'encoding', progress: 40 },
            { type: 'hls', quality: '480p', status: 'encoded', progress: 100 },
            { type: 'mp4', quality: '480p', status: 'waiting', progress: 0 },
          ],
          metadata: {
            width: 854,
            height: 480,
            bitrate: 812.5,
            duration: 28,
            framerate: 25,
            samplerate: 48_000,
            videoCodec: 'h264',
            audioCodec: 'aac',
            aspectRatio: '16/9',
          },
        },
      },
    ],
  });

const maxVideoIds = 100;

export const videoStatusesQuerySchema = z.strictObject({
  videoIds: z.array(z.string().max(64)).max(maxVideoIds).optional().describe('Ids of videos.'),
});

export const videoStatusesSchema = z.object({
  data: z.array(videoStatusSchema.extend({ videoId: z.string() })),
});

export type VideoStatusView = z.input<typeof videoStatusSchema>;
