import * as z from 'zod';
import { isoDate, isoDateTime, parseIsoDate } from '../../../http/routing/iso-date.ts';
import { listQuery, listSchema } from '../../../http/routing/pagination.ts';
import { queryPairs } from '../../../http/routing/query-parameters.ts';
import { maxTagChars, maxTags, maxTitleChars } from '../../../shared/limits/resource-limits.ts';
import { timecodePattern } from '../../../shared/text/timecode.ts';
import {
  ownPolicySchema,
  shownPolicySchema,
} from '../../playback/playback-policies/playback-policy.schema.ts';
import type { VideoFilter, VideoListState } from './lists/video-filter.ts';
import {
  clipTimecodeMs,
  languageProblem,
  languages,
  type placementFields,
  placementPatterns,
  placementProblem,
} from './video.ts';

const maxDescriptionChars = 10_000;
const maxMetadataEntries = 100;
const maxMetadataKeyChars = 255;
const maxMetadataValueChars = 1_024;
const maxSourceChars = 8_192;
const maxIdChars = 64;
const maxClipSeconds = 86_400;
const maxSearchChars = 1_024;
const maxFilterValues = 20;
const videoStates = ['empty', 'processing', 'ready', 'failed'] as const satisfies readonly VideoListState[];

const metadataSchema = z
  .array(
    z.strictObject({
      key: z.string().min(1).max(maxMetadataKeyChars),
      value: z.string().max(maxMetadataValueChars),
    }),
  )
  .max(maxMetadataEntries);

const title = z.string().min(1).max(maxTitleChars).describe('Title for viewers.');
const attributes = {
  description: z.string().max(maxDescriptionChars).optional(),
  public: z.boolean().optional().describe('True lets anyone who has the URL watch. Default: true.'),
  listed: z
    .boolean()
    .optional()
    .describe(
      'True shows the video in the channel of the project, which `PATCH /account/channel` turns on, while it is public and everybody may play it. Default: false.',
    ),
  panoramic: z
    .boolean()
    .optional()
    .describe('Marks a 360-degree video, for players that support it. The player page shows it flat.'),
  mp4Support: z.boolean().optional().describe('Offers the video as an mp4 download. Default: true.'),
  playerId: z.string().min(1).max(maxIdChars).nullish().describe('The player theme; null unsets it.'),
  tags: z.array(z.string().min(1).max(maxTagChars)).max(maxTags).optional().describe('Replaces all tags.'),
  metadata: metadataSchema.optional().describe('Replaces all metadata.'),
  language: z
    .string()
    .superRefine((tag, context) => {
      const message = languageProblem(tag);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .meta({ pattern: `^(?:${languages.join('|')})$` })
    .nullish()
    .describe('Spoken language, such as `en`; null unsets it.'),
  expiresAt: isoDateTime
    .nullish()
    .describe(
      'Time at which the video is deleted, in the future. Null keeps it. When not given, a new video expires as `PATCH /account/retention` says.',
    ),
  playbackPolicy: ownPolicySchema,
  transcript: z
    .boolean()
    .optional()
    .describe(
      'True generates captions in the spoken language, unless the video has some that were not generated. Needs the setting `transcription.url`. When not given, a new video follows `PATCH /account/video-defaults`. False ends a generation that waits or runs.',
    ),
  transcriptSummary: z
    .boolean()
    .optional()
    .describe(
      'True generates a summary of the captions. Needs the setting `summary.model`. When not given, a new video follows `PATCH /account/video-defaults`, unless `transcript` is false.',
    ),
  transcriptSummaryAttributes: z
    .array(z.enum(['abstract', 'takeaways']))
    .max(2)
    .optional()
    .describe('What the summary has. Default: both.'),
};

const timecode = z
  .string()
  .refine(
    value => clipTimecodeMs(value) !== undefined,
    'This value should be a timecode such as "00:01:02.500", or whole seconds.',
  )
  .meta({ pattern: timecodePattern.source });
const clipSchema = z
  .strictObject({
    startTimecode: timecode.optional(),
    endTimecode: timecode.optional(),
    lastSeconds: z
      .number()
      .min(1)
      .max(maxClipSeconds)
      .optional()
      .describe('Takes the end of the source instead: the last seconds of a video or running broadcast.'),
    precision: z
      .enum(['keyframe', 'frame'])
      .optional()
      .describe(
        '`frame` starts and ends exactly at frames. The media between the first keyframe and the end is copied where that is possible. `keyframe` encodes nothing, and starts with the keyframe at the start or before. Default: `frame`.',
      ),
  })
  .refine(
    ({ startTimecode, endTimecode, lastSeconds }) =>
      lastSeconds === undefined || (startTimecode === undefined && endTimecode === undefined),
    { message: 'Send either timecodes or this.', path: ['lastSeconds'] },
  )
  .meta({
    dependentSchemas: { lastSeconds: { properties: { startTimecode: false, endTimecode: false } } },
  })
  .transform(({ startTimecode, endTimecode, lastSeconds, precision }) => ({
    startMs: startTimecode === undefined ? undefined : clipTimecodeMs(startTimecode),
    endMs: endTimecode === undefined ? undefined : clipTimecodeMs(endTimecode),
    lastMs: lastSeconds && Math.round(lastSeconds * 1000),
    precision,
  }))
  .refine(({ startMs = 0, endMs = Number.POSITIVE_INFINITY }) => startMs < endMs, {
    message: 'The clip must end after it starts.',
    path: ['endTimecode'],
  })
  .describe(
    'The part of the source that becomes the video. For a live stream, the times count from the start of the broadcast. A frame in `HH:MM:SS:ff` counts as a 25th of a second.',
  );

const placement = (field: (typeof placementFields)[number]) =>
  z
    .string()
    .superRefine((value, context) => {
      const message = placementProblem(field, value);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .meta({ pattern: placementPatterns[field].source })
    .optional();
const watermarkSchema = z
  .strictObject({
    id: z.string().min(1).max(maxIdChars).describe('Id of the watermark.'),
    top: placement('top'),
    left: placement('left'),
    bottom: placement('bottom'),
    right: placement('right'),
    width: placement('width'),
    height: placement('height'),
    opacity: placement('opacity'),
  })
  .describe('Burned into the video permanently. Distances are `<n>px` or `<n>%`, sizes also `initial`.');

export const videoCreationSchema = z
  .strictObject({
    title,
    source: z
      .string()
      .min(1)
      .max(maxSourceChars)
      .optional()
      .describe(
        'An http or https URL to fetch, or the id of one of your videos to copy, or of one of your live streams, of which `clip` is copied.',
      ),
    ...attributes,
    clip: clipSchema.optional(),
    watermark: watermarkSchema.optional(),
  })
  .meta({
    examples: [{ title: 'Harbour at dawn', tags: ['sea'], metadata: [{ key: 'shot', value: '12' }] }],
  });

export const videoChangesSchema = z
  .strictObject({ title: title.optional(), ...attributes })
  .meta({ examples: [{ title: 'Harbour at dusk' }] });

export const videoDeletionQuerySchema = z.strictObject({
  permanently: z
    .enum(['true', 'false'])
    .optional()
    .describe(
      '`true` deletes the video permanently instead of discarding it, and also deletes a discarded video.',
    ),
});

/** A query as a filter. */
export function videoFilterOf({
  createdFrom,
  createdTo,
  ...filter
}: z.output<typeof videosQuerySchema>): VideoFilter {
  return {
    ...filter,
    createdFromMs: createdFrom === undefined ? undefined : parseIsoDate(createdFrom),
    createdToMs: createdTo === undefined ? undefined : parseIsoDate(createdTo),
  };
}

export const videosQuerySchema = listQuery(
  {
    title: z
      .string()
      .max(maxSearchChars)
      .optional()
      .describe('Videos whose title contains this; case and accents do not matter.'),
    description: z
      .string()
      .max(maxSearchChars)
      .optional()
      .describe('Videos whose description contains this; case and accents do not matter.'),
    tags: z.array(z.string()).max(maxFilterValues).optional().describe('Videos with all of these tags.'),
    metadata: queryPairs(maxFilterValues)
      .optional()
      .meta({ description: 'Videos with all of these pairs.', examples: [{ shot: '12' }] }),
    liveStreamId: z.string().optional().describe('Recordings of this live stream.'),
    status: z
      .enum(videoStates)
      .optional()
      .describe(
        '`empty`: without a file. `processing`: a file arrives, or renditions are encoded, even if some are playable. `ready`: all are. `failed`: not playable, for the reason in `GET /videos/{videoId}/status`.',
      ),
    public: z.boolean().optional().describe('`true`: public videos. `false`: private ones.'),
    sourceType: z
      .enum(['upload', 'liveStream'])
      .optional()
      .describe('As in `source.type`: `liveStream` for recordings.'),
    createdFrom: isoDate.optional().describe('Videos created at this time or later.'),
    createdTo: isoDate.optional().describe('Videos created before this time.'),
  },
  ['title', 'createdAt', 'publishedAt', 'updatedAt', 'plays'],
);

const dateTime = z.iso.datetime({ offset: true });

export const videoSchema = z
  .object({
    videoId: z.string(),
    title: z.string(),
    description: z.string(),
    public: z.boolean(),
    listed: z.boolean().optional().describe('`true` when the channel shows it while it is public.'),
    panoramic: z.boolean(),
    mp4Support: z.boolean(),
    playerId: z.string().optional(),
    tags: z.array(z.string()),
    metadata: z.array(z.object({ key: z.string(), value: z.string() })),
    language: z.string().optional(),
    languageOrigin: z
      .enum(['api', 'auto'])
      .nullable()
      .describe('Origin of the language. `auto`: a model detected it.'),
    createdAt: dateTime,
    publishedAt: dateTime,
    updatedAt: dateTime,
    expiresAt: dateTime.optional().describe('Time at which the video is deleted. Absent if it is kept.'),
    playbackPolicy: shownPolicySchema,
    discarded: z.boolean(),
    discardedAt: dateTime.nullable(),
    deletesAt: dateTime.nullable().describe('Time at which a discarded video is deleted permanently.'),
    source: z.object({
      type: z.enum(['upload', 'liveStream']),
      uri: z.string(),
      liveStream: z
        .object({
          liveStreamId: z.string(),
          links: z.array(z.object({ rel: z.literal('self'), uri: z.string() })),
        })
        .optional()
        .describe('The live stream of a recording or clip.'),
      clippedFrom: z
        .object({
          videoId: z.string().optional(),
          liveStreamId: z.string().optional(),
          links: z.array(z.object({ rel: z.literal('self'), uri: z.string() })),
        })
        .optional()
        .describe('The video or live stream that it is a clip of, which may have been deleted.'),
    }),
    assets: z
      .object({
        hls: z.string(),
        iframe: z.string(),
        player: z.string(),
        thumbnail: z.string(),
        mp4: z.string().optional().describe('Only with `mp4Support`, and not for audio-only videos.'),
      })
      .nullable()
      .describe('Null while it is discarded.'),
  })
  .meta({
    id: 'Video',
    examples: [
      {
        videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN',
        title: 'Harbour at dawn',
        description: '',
        public: true,
        panoramic: false,
        mp4Support: true,
        playerId: 'pl7Zx4CvBn2Mq9WeRt5YuIoP',
        tags: ['sea', 'drone'],
        metadata: [{ key: 'shot', value: '12' }],
        language: 'en',
        languageOrigin: 'api',
        createdAt: '2026-03-04T05:06:07+00:00',
        publishedAt: '2026-03-04T05:06:07+00:00',
        updatedAt: '2026-03-04T05:09:00+00:00',
        discarded: false,
        discardedAt: null,
        deletesAt: null,
        source: { type: 'upload', uri: '/videos/vi2Rk9TqLm4Xc7WdZp0HsBeN/source' },
        assets: {
          hls: 'https://media.example.org/vod/vi2Rk9TqLm4Xc7WdZp0HsBeN/hls/manifest.m3u8',
          iframe:
            '<iframe src="https://media.example.org/vod/vi2Rk9TqLm4Xc7WdZp0HsBeN" width="100%" height="100%" frameborder="0" scrolling="no" allowfullscreen="true"></iframe>',
          player: 'https://media.example.org/vod/vi2Rk9TqLm4Xc7WdZp0HsBeN',
          thumbnail: 'https://media.example.org/vod/vi2Rk9TqLm4Xc7WdZp0HsBeN/thumbnail.jpg',
          mp4: 'https://media.example.org/vod/vi2Rk9TqLm4Xc7WdZp0HsBeN/mp4/source.mp4',
        },
      },
    ],
  });

export type VideoView = z.input<typeof videoSchema>;

export const videoListSchema = listSchema(videoSchema);
