import * as z from 'zod';
import { isoDateTime } from '../../../http/routing/iso-date.ts';
import { listQuery, listSchema } from '../../../http/routing/pagination.ts';
import { maxLiveAudioTracks, maxRestreams } from '../../../shared/limits/resource-limits.ts';
import { sourceUrlProblem } from '../../../shared/network/source-url.ts';
import { urlPatterns } from '../../../shared/network/url-pattern.ts';
import { languageTagPattern, languageTagProblem } from '../../../shared/text/language-tag.ts';
import { maxTrackTitleChars } from '../../../shared/text/track-title.ts';
import {
  ownPolicySchema,
  shownPolicySchema,
} from '../../playback/playback-policies/playback-policy.schema.ts';
import { keepDays } from '../../videos/retention/retention.schema.ts';
import { liveQualities, restreamRenditions, serverUrlProblem } from './live-stream.ts';

const maxNameChars = 1_024;
const maxRestreamTextChars = 2_048;

const restreamSchema = z.strictObject({
  name: z.string().min(1).max(maxRestreamTextChars).describe('Your name for the destination.'),
  serverUrl: z
    .string()
    .min(1)
    .max(maxRestreamTextChars)
    .superRefine((serverUrl, context) => {
      const message = serverUrl === '' ? undefined : serverUrlProblem(serverUrl);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .meta({ pattern: [urlPatterns.rtmp, urlPatterns.srt].join('|') })
    .describe(
      '`rtmp://host/app`, `rtmps://host/app`, or `srt://host:port`, which may have `latency` (milliseconds), `passphrase`, `pbkeylen` and `streamid`.',
    ),
  streamKey: z
    .string()
    .min(1)
    .max(maxRestreamTextChars)
    .describe('The stream key at the destination; over SRT the stream ID, unless the URL has one.'),
  enabled: z
    .boolean()
    .optional()
    .describe('`false` keeps the destination without sending anything to it; true when not given.'),
  rendition: z
    .enum(restreamRenditions)
    .optional()
    .describe(
      'The rendition that it gets: `source` when not given, or a rendition of the ladder, such as `720p`.',
    ),
});

const audioTrackSchema = z.strictObject({
  name: z.string().min(1).max(maxTrackTitleChars).optional().describe('The name in menus.'),
  language: z
    .string()
    .superRefine((tag, context) => {
      const message = languageTagProblem(tag);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .meta({ pattern: `^${languageTagPattern}$` })
    .optional()
    .describe('Spoken language, such as `en`.'),
  default: z
    .literal(true)
    .optional()
    .describe('Viewers hear this track unless they choose another one; the main track when none is.'),
  position: z
    .int()
    .min(1)
    .max(maxLiveAudioTracks)
    .optional()
    .describe('Position in menus; the first is 1. Default: the order of track ids.'),
});

const sourceSchema = z.strictObject({
  url: z
    .string()
    .min(1)
    .max(maxRestreamTextChars)
    .superRefine((url, context) => {
      const message = url === '' ? undefined : sourceUrlProblem(url);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .meta({ pattern: Object.values(urlPatterns).join('|') })
    .describe(
      'RTSP (`rtsp://`, `rtsps://`), HLS or MPEG-TS over HTTP (`http://`, `https://`), RTMP (`rtmp://`, `rtmps://`) or SRT (`srt://`). A user and password belong in the address.',
    ),
  enabled: z.boolean().optional().describe('`false` keeps the address without pulling; true when not given.'),
});

const name = z.string().min(1).max(maxNameChars).describe('Your name for the live stream.');
const attributes = {
  public: z.boolean().optional().describe('True lets anyone who has the URL watch.'),
  playerId: z.string().min(1).max(64).nullish().describe('The player theme; null unsets it.'),
  restreams: z
    .array(restreamSchema)
    .max(maxRestreams)
    .optional()
    .describe(
      'Destinations that broadcasts are forwarded to; replaces the whole list. A running broadcast follows at once: what did not change stays connected.',
    ),
  qualities: z
    .enum(liveQualities)
    .nullish()
    .describe(
      '`passthrough`: the source only. `ladder`: smaller renditions too, for viewers on slow networks. Applies from the next broadcast on; null uses the setting of the server.',
    ),
  audioTracks: z
    .array(audioTrackSchema)
    .max(maxLiveAudioTracks)
    .refine(tracks => tracks.filter(track => track.default).length <= 1, {
      message: 'Only one track can be the default.',
    })
    .nullish()
    .describe(
      'Names, languages and positions in menus of the audio tracks, in the order of their ids in the encoder, the main one first. What is not given comes from the encoder. Applies from the next broadcast on; null unsets it.',
    ),
  record: z
    .boolean()
    .nullish()
    .describe(
      '`true`: every broadcast becomes a video. `false`: none does, and nothing of a broadcast stays on the disk after its end. Applies from the next broadcast on; null uses the setting of the server.',
    ),
  keepRecordingsDays: keepDays
    .nullish()
    .describe(
      'Days after which a recording is deleted, counted from the end of its broadcast. Null follows `PATCH /account/retention`. Applies to recordings that end from now on.',
    ),
  playbackPolicy: ownPolicySchema,
  ultraLowLatency: z
    .boolean()
    .optional()
    .describe(
      '`true`: players offer WebRTC (WHEP) beside HLS, for a delay below a second. Needs H.264 without B-frames, and Opus. Applies from the next broadcast on. Sandbox broadcasts do not have it.',
    ),
  viewerClips: z
    .boolean()
    .optional()
    .describe(
      '`true`: viewers of the player page can turn the last seconds of a broadcast into a video of this project. Applies at once.',
    ),
  listed: z
    .boolean()
    .optional()
    .describe(
      '`true`: the channel of the project, which `PATCH /account/channel` turns on, shows the live stream while it is live, and then its recording, if they are public and everybody may play them. Default: false.',
    ),
  showViewers: z
    .boolean()
    .optional()
    .describe(
      '`true`: the player, the watch page and the channel show how many are watching. Default: false.',
    ),
  startsAt: isoDateTime
    .nullish()
    .describe(
      'Planned start of the next broadcast. Announced on the watch page, and in the channel if the live stream is `listed`, until the broadcast begins or is an hour late. Null unsets it.',
    ),
  source: sourceSchema
    .nullish()
    .describe(
      'Media that the server pulls, such as a camera, instead of waiting for an encoder. It is pulled while it is enabled, and again after a failure. Replaces the former source at once; null removes it.',
    ),
};

const example = {
  name: 'Pier cam',
  restreams: [{ name: 'Mirror', serverUrl: 'rtmp://mirror.example.net/app', streamKey: 'abcd-1234' }],
};

export const liveStreamCreationSchema = z.strictObject({ name, ...attributes }).meta({ examples: [example] });

export const liveStreamChangesSchema = z
  .strictObject({ name: name.optional(), ...attributes })
  .meta({ examples: [{ name: 'Pier cam, north' }] });

export const liveStreamsQuerySchema = listQuery(
  {
    streamKey: z.string().optional().describe('The live stream with exactly this key.'),
    liveStreamId: z.string().optional().describe('The live stream with exactly this id.'),
    name: z
      .string()
      .optional()
      .describe('Live streams whose name contains this; case and accents do not matter.'),
  },
  ['name', 'createdAt', 'updatedAt'],
);

export const liveStreamSchema = z
  .object({
    liveStreamId: z.string(),
    name: z.string(),
    streamKey: z
      .string()
      .optional()
      .describe('Secret: anyone who has it can publish. Absent for callers without the scope `live`.'),
    public: z.boolean(),
    broadcasting: z.boolean().describe('True while media is received and published.'),
    playerId: z.string().optional(),
    restreams: z.array(
      z.object({
        name: z.string(),
        serverUrl: z.string().describe('Without password and query for callers without the scope `live`.'),
        streamKey: z.string().optional().describe('Absent for callers without the scope `live`.'),
        enabled: z.boolean().optional().describe('As set. Absent means true.'),
        rendition: z.enum(restreamRenditions).optional().describe('As set. Absent means `source`.'),
      }),
    ),
    qualities: z.enum(liveQualities).optional().describe('Renditions for viewers, when chosen.'),
    audioTracks: z
      .array(
        z.object({
          name: z.string().optional(),
          language: z.string().optional(),
          default: z.literal(true).optional(),
          position: z.int().optional(),
        }),
      )
      .optional()
      .describe('Names, languages and positions of the audio tracks, when chosen.'),
    record: z.boolean().optional().describe('True when broadcasts are recorded, when chosen.'),
    keepRecordingsDays: z.int().optional().describe('Days after which a recording is deleted, when chosen.'),
    playbackPolicy: shownPolicySchema,
    ultraLowLatency: z.boolean().optional().describe('`true` when viewers may watch over WebRTC.'),
    viewerClips: z.boolean().optional().describe('`true` when viewers may clip broadcasts.'),
    listed: z.boolean().optional().describe('`true` when the channel shows it while it is public.'),
    showViewers: z.boolean().optional().describe('`true` when viewers see how many are watching.'),
    startsAt: z.iso
      .datetime({ offset: true })
      .optional()
      .describe('Planned start of the next broadcast. Stays until you change it.'),
    hasThumbnail: z
      .boolean()
      .optional()
      .describe('`true` when a thumbnail was uploaded. Otherwise, a frame of the broadcast is shown.'),
    source: z
      .object({
        url: z
          .string()
          .describe('Secret: it may hold a password, which callers without the scope `live` do not get.'),
        enabled: z.boolean(),
        state: z
          .enum(['off', 'connecting', 'live', 'retrying'])
          .describe('`retrying`: the last attempt failed, and the next one is at `nextAttemptAt`.'),
        reason: z.string().optional().describe('Why the last attempt failed, in plain words.'),
        nextAttemptAt: z.iso.datetime({ offset: true }).optional(),
      })
      .optional()
      .describe('Media that the server pulls, when set.'),
    refusedEncoder: z
      .object({
        name: z.string().describe('The name that the encoder gives itself; empty over SRT.'),
        address: z.string(),
        until: z.iso
          .datetime({ offset: true })
          .describe('When it may publish again, unless it tries before that.'),
      })
      .optional()
      .describe(
        'The encoder that was connected when the broadcast was completed. It is refused until it has stayed away for a minute. Absent for callers without the scope `live`.',
      ),
    lastBroadcast: z
      .object({
        startedAt: z.iso.datetime({ offset: true }),
        endedAt: z.iso.datetime({ offset: true }).optional().describe('Absent while it runs.'),
      })
      .optional()
      .describe('The newest broadcast of the last 30 days. Absent without any. Only in answers to `GET`.'),
    recordings: z
      .int()
      .optional()
      .describe(
        'Number of its recordings that are not discarded. Absent without any. Only in answers to `GET`.',
      ),
    assets: z.object({
      hls: z.string(),
      iframe: z.string(),
      player: z.string(),
      thumbnail: z.string(),
    }),
    createdAt: z.iso.datetime({ offset: true }),
    updatedAt: z.iso.datetime({ offset: true }),
  })
  .meta({
    id: 'LiveStream',
    examples: [
      {
        liveStreamId: 'li5Ds8GhJk1Qw3ErTy6UiOpA',
        name: 'Pier cam',
        streamKey: '5f0f2c1e-7a44-4d0c-9b5e-2f6b1d9c8e37',
        public: true,
        broadcasting: false,
        restreams: example.restreams,
        assets: {
          hls: 'https://live.example.org/li5Ds8GhJk1Qw3ErTy6UiOpA.m3u8',
          iframe:
            '<iframe src="https://live.example.org/live/li5Ds8GhJk1Qw3ErTy6UiOpA" width="100%" height="100%" frameborder="0" scrolling="no" allowfullscreen="true"></iframe>',
          player: 'https://live.example.org/live/li5Ds8GhJk1Qw3ErTy6UiOpA',
          thumbnail: 'https://live.example.org/li5Ds8GhJk1Qw3ErTy6UiOpA/thumbnail.jpg',
        },
        createdAt: '2026-03-04T05:06:07+00:00',
        updatedAt: '2026-03-04T05:06:07+00:00',
      },
    ],
  });

export const liveStreamListSchema = listSchema(liveStreamSchema);
