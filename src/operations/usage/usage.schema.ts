import { z } from 'zod';

const bytes = (text: string) => z.int().nonnegative().describe(text);

const storageSchema = z
  .object({
    totalBytes: bytes('All of the below.'),
    sourceBytes: bytes('Files that were uploaded, fetched or copied from another video.'),
    recordingBytes: bytes('Recordings of live streams, those that are being made included.'),
    hlsBytes: bytes('Qualities that were made of them.'),
    mp4Bytes: bytes('Files to download.'),
    imageBytes: bytes('Thumbnails, seek previews, and the watermarks that videos were made with.'),
    textBytes: bytes('Captions, chapters, and the texts of seek previews.'),
    maxBytes: z
      .int()
      .optional()
      .describe(
        'The maximum of `totalBytes`; uploads and imports that would exceed it are refused. Absent where there is none.',
      ),
    measuring: z
      .literal(true)
      .optional()
      .describe(
        'There are files that were not measured yet, so that it is more than this; absent when there are none.',
      ),
  })
  .describe(
    'The files of videos, those in the trash included, as they were within the last minute. A file that several videos share counts for ' +
      'each. Not counted: chunks of an upload that is not complete, what viewers of a live stream can go back to, images of live streams ' +
      'and of player themes, and watermarks that no video was made with.',
  );

const daySchema = z.object({
  date: z.iso.date().describe('UTC.'),
  bytes: bytes('Live and videos together.'),
  liveBytes: bytes('For live streams.'),
  videoBytes: bytes('For videos.'),
});

/** What a project uses. */
export const usageSchema = z
  .object({
    projectId: z.string(),
    environment: z.enum(['sandbox', 'production']),
    videos: z.int().nonnegative().describe('Without those in the trash.'),
    liveStreams: z.int().nonnegative(),
    storage: storageSchema,
    uploads: z
      .object({
        inProgress: z.int().nonnegative().describe('Uploads that have begun and are not complete.'),
        max: z.int().optional().describe('The maximum of `inProgress`; absent where there is none.'),
      })
      .describe('Files that are being uploaded for videos.'),
    bandwidth: z
      .object({
        todayBytes: bytes('Since midnight, UTC.'),
        last30DaysBytes: bytes('All of `days`.'),
        days: z
          .array(daySchema)
          .length(30)
          .describe('The last 30 days, the oldest first and today last; those without traffic too.'),
      })
      .describe(
        'Bytes of the bodies that were handed to connections of viewers: playlists, media, files, images and pages of live streams and ' +
          'videos. Not counted: headers, what is the same for all (scripts and styles of the player, logos of themes), and answers of ' +
          'the API. A crash of the server loses ten seconds at most.',
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

/** What a project uses as the API shows it. */
export type UsageView = z.input<typeof usageSchema>;
