import * as z from 'zod';

const bytes = (text: string) => z.int().nonnegative().describe(text);

const storageSchema = z
  .object({
    totalBytes: bytes('The sum of the other sizes.'),
    sourceBytes: bytes('Files that were uploaded, imported or copied from another video.'),
    recordingBytes: bytes('Recordings of live streams, including those in progress.'),
    hlsBytes: bytes('Renditions.'),
    mp4Bytes: bytes('MP4 downloads.'),
    imageBytes: bytes('Thumbnails, seek previews and the watermarks of videos.'),
    textBytes: bytes('Captions, chapters and the indexes of seek previews.'),
    maxBytes: z
      .int()
      .optional()
      .describe(
        'The limit of `totalBytes`. Uploads and imports beyond it are refused. Absent if there is no limit.',
      ),
    measuring: z
      .literal(true)
      .optional()
      .describe('Some files are not measured yet, so usage is higher than this. Absent if all are measured.'),
  })
  .describe(
    'Files of videos, including the trash, measured within the last minute. A file that several videos share counts for each of them. ' +
      'Not counted: chunks of incomplete uploads, the rewind window of live streams, images of live streams and player themes, and ' +
      'watermarks that no video uses.',
  );

const daySchema = z.object({
  date: z.iso.date().describe('In UTC.'),
  bytes: bytes('Live streams and videos together.'),
  liveBytes: bytes('Live streams.'),
  videoBytes: bytes('Videos.'),
});

export const usageSchema = z
  .object({
    projectId: z.string(),
    environment: z.enum(['sandbox', 'production']),
    videos: z.int().nonnegative().describe('Without the trash.'),
    liveStreams: z.int().nonnegative(),
    storage: storageSchema,
    uploads: z
      .object({
        inProgress: z.int().nonnegative().describe('Uploads that have begun and are not complete.'),
        max: z.int().optional().describe('The limit of `inProgress`. Absent if there is no limit.'),
      })
      .describe('Uploads of video files.'),
    bandwidth: z
      .object({
        todayBytes: bytes('Since midnight UTC.'),
        last30DaysBytes: bytes('The sum of `days`.'),
        days: z
          .array(daySchema)
          .length(30)
          .describe('The last 30 days, today last. Days without traffic are included.'),
      })
      .describe(
        'Bytes of response bodies that were sent to viewers: playlists, media, files, images and pages of live streams and videos. Not ' +
          'counted: headers, files that all projects share (scripts and styles of the player, logos of themes) and responses of the API. ' +
          'A crash of the server loses at most ten seconds.',
      ),
  })
  .meta({
    id: 'Usage',
    examples: [
      {
        projectId: 'pr9Bv4Nc2Mx7Za1Sd6Fg8Hj3',
        environment: 'production',
        videos: 12,
        liveStreams: 3,
        storage: {
          totalBytes: 3_482_000_000,
          sourceBytes: 1_400_000_000,
          recordingBytes: 900_000_000,
          hlsBytes: 1_000_000_000,
          mp4Bytes: 180_000_000,
          imageBytes: 1_900_000,
          textBytes: 100_000,
        },
        uploads: { inProgress: 1, max: 1_000 },
        bandwidth: {
          todayBytes: 52_000_000,
          last30DaysBytes: 52_000_000,
          days: Array.from({ length: 30 }, (_, index) => ({
            date: new Date(Date.UTC(2026, 1, 3 + index)).toISOString().slice(0, 10),
            bytes: index === 29 ? 52_000_000 : 0,
            liveBytes: index === 29 ? 50_000_000 : 0,
            videoBytes: index === 29 ? 2_000_000 : 0,
          })),
        },
      },
    ],
  });

export type UsageView = z.input<typeof usageSchema>;
