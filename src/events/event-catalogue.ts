import { z } from 'zod';

const liveStreamId = z.string().describe('Id of the live stream.');
const videoId = z.string().describe('Id of the video.');

const alarm = z
  .string()
  .describe(
    '`keyframes-too-far-apart`, `bitrate-collapsed`, `bitrate-low`, `frame-rate-collapsed`, `audio-missing`, `video-missing`, `timestamps-jumping`, `audio-video-drift` or `frequent-reconnects`.',
  );
const alarmMessage = z.string().describe('For the person at the encoder: what is wrong, and what to do.');

const recordedFrom = liveStreamId.optional().describe('Only for a recording: id of the live stream.');
const failureReason = z.string().describe('For the owner of the video, as a sentence.');

/** What can be told of a resource. */
export interface EventKind {
  /** When it happens, for a person. */
  readonly summary: string;
  /** Whether this server writes it; others can be subscribed to and never come. */
  readonly isEmitted: boolean;
  /** What is told beside `type` and `emittedAt`. */
  readonly payload: z.ZodObject;
  /** A payload as it is sent. */
  readonly example: Readonly<Record<string, unknown>>;
}

/** Every event by its name. */
export const eventCatalogue = {
  'live-stream.broadcast.started': {
    summary:
      'A live stream begins to broadcast: it can be played. A publisher that comes back in time does not begin another.',
    isEmitted: true,
    payload: z.object({ liveStreamId }),
    example: { liveStreamId: 'li5Ds8GhJk1Qw3ErTy6UiOpA' },
  },
  'live-stream.broadcast.ended': {
    summary: 'A live stream that was broadcasting has ended, for whatever reason.',
    isEmitted: true,
    payload: z.object({ liveStreamId }),
    example: { liveStreamId: 'li5Ds8GhJk1Qw3ErTy6UiOpA' },
  },
  'live-stream.restream.stopped': {
    summary: 'A destination of a live stream gets no more, while the broadcast goes on.',
    isEmitted: true,
    payload: z.object({
      liveStreamId,
      name: z.string().describe('What you call the destination.'),
      reason: z
        .string()
        .describe('`sandbox-limit`: its time in the sandbox is over. `codec`: it cannot be sent.'),
    }),
    example: { liveStreamId: 'li5Ds8GhJk1Qw3ErTy6UiOpA', name: 'Mirror', reason: 'sandbox-limit' },
  },
  'live-stream.quality.dropped': {
    summary:
      'A quality of a broadcast is made no more, until the next broadcast: viewers who had it get the one below.',
    isEmitted: true,
    payload: z.object({
      liveStreamId,
      quality: z.string().describe('Such as `720p`.'),
      reason: z
        .enum(['too-slow', 'encoder-failed'])
        .describe('The machine could not keep up with it, or its encoder failed again and again.'),
    }),
    example: { liveStreamId: 'li5Ds8GhJk1Qw3ErTy6UiOpA', quality: '720p', reason: 'too-slow' },
  },
  'live-stream.alarm.raised': {
    summary:
      'What the encoder of a live stream sends makes its viewers suffer. At most once a minute for each kind of alarm; all end, untold, with the broadcast.',
    isEmitted: true,
    payload: z.object({ liveStreamId, alarm, message: alarmMessage }),
    example: {
      liveStreamId: 'li5Ds8GhJk1Qw3ErTy6UiOpA',
      alarm: 'keyframes-too-far-apart',
      message: 'Keyframes come every 8 s or less often. Set the keyframe interval to 2 s in the encoder.',
    },
  },
  'live-stream.alarm.cleared': {
    summary: 'What an alarm of a live stream was about has been well for 10 s.',
    isEmitted: true,
    payload: z.object({ liveStreamId, alarm, message: alarmMessage }),
    example: {
      liveStreamId: 'li5Ds8GhJk1Qw3ErTy6UiOpA',
      alarm: 'keyframes-too-far-apart',
      message: 'Keyframes come often enough again.',
    },
  },
  'video.source.recorded': {
    summary: 'The recording of a live stream is complete and waits for its encoding.',
    isEmitted: true,
    payload: z.object({ liveStreamId, videoId }),
    example: { liveStreamId: 'li5Ds8GhJk1Qw3ErTy6UiOpA', videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN' },
  },
  'video.source.failed': {
    summary:
      'The source of a video failed for good: an upload or import that did not complete, or a recording that could not be joined. The video accepts a new upload.',
    isEmitted: true,
    payload: z.object({ videoId, reason: failureReason, liveStreamId: recordedFrom }),
    example: {
      videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN',
      reason: 'The server of the source answered 404. Check the address, or upload the file.',
    },
  },
  'video.encoding.failed': {
    summary:
      'The encoding of a video failed for good, or a part of it. A video that cannot be played accepts a new upload.',
    isEmitted: true,
    payload: z.object({
      videoId,
      reason: failureReason,
      playable: z.boolean().describe('Whether viewers can still play what was encoded before.'),
      liveStreamId: recordedFrom,
    }),
    example: {
      videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN',
      reason: 'The file cannot be used as a video.',
      playable: false,
    },
  },
  'live-stream.recording.stopped': {
    summary:
      'A live stream is not recorded any more while it broadcasts on, because of the disk or the storage limit. It is recorded anew, in another video, once that is possible.',
    isEmitted: true,
    payload: z.object({
      liveStreamId,
      videoId: videoId.optional().describe('Id of the video with what was recorded, if anything was.'),
      reason: z
        .enum(['disk-low', 'disk-slow', 'disk-error', 'storage-limit'])
        .describe(
          'There is too little room on the disk, it is too slow, writing to it failed, or the project may not store any more.',
        ),
    }),
    example: {
      liveStreamId: 'li5Ds8GhJk1Qw3ErTy6UiOpA',
      videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN',
      reason: 'disk-low',
    },
  },
  'video.encoding.quality.completed': {
    summary:
      'A quality of a video is encoded: once for each quality of the stream, and once for the mp4 at the highest one.',
    isEmitted: true,
    payload: z.object({
      videoId,
      encoding: z.enum(['hls', 'mp4']),
      quality: z.string().describe('Such as `720p`.'),
      liveStreamId: recordedFrom,
    }),
    example: { videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN', encoding: 'hls', quality: '480p' },
  },
  'video.caption.generated': {
    summary: 'Captions were generated. This server generates none, so it never comes.',
    isEmitted: false,
    payload: z.object({
      videoId,
      captionId: z.string().describe('Id of the captions.'),
      generationMode: z.literal('transcript'),
      language: z.string().describe('Language tag of the captions.'),
    }),
    example: {
      videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN',
      captionId: 'caption_4Kd8sLq2Wm6Xr1Tz9Bn3Vc',
      generationMode: 'transcript',
      language: 'en',
    },
  },
  'video.summary.generated': {
    summary: 'A summary was generated. This server generates none, so it never comes.',
    isEmitted: false,
    payload: z.object({ videoId, summaryId: z.string().describe('Id of the summary.') }),
    example: { videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN', summaryId: 'summary_4Kd8sLq2Wm6Xr1Tz9Bn3Vc' },
  },
} as const satisfies Record<string, EventKind>;

/** A name of {@link eventCatalogue}. */
export type EventType = keyof typeof eventCatalogue;

/** All names of {@link eventCatalogue}. */
export const eventTypes = Object.keys(eventCatalogue) as [EventType, ...EventType[]];

/** The type of what a webhook is sent on request. It is not in the catalogue: nobody subscribes to it, and the feed never tells it. */
export const testType = 'webhook.test';

const testEvent = {
  summary:
    'Somebody asked for a test of the webhook. It is sent once, whatever the answer, and nobody subscribes to it.',
  isEmitted: true,
  payload: z.object({ webhookId: z.string().describe('Id of the webhook.') }),
  example: { webhookId: 'webhook_9Pf3kRt7Zv1Ym5Hc8Qj2Ns' },
} satisfies EventKind;

/** All types that a webhook can be sent. */
export const deliveryTypes = [...eventTypes, testType] as const;

/** One of {@link deliveryTypes}. */
export type DeliveryType = (typeof deliveryTypes)[number];

/** Returns the kind of event that a type names. */
export function eventKindOf(type: DeliveryType): EventKind {
  return type === testType ? testEvent : eventCatalogue[type];
}

/** An event as receivers get it: its name, its time, and the payload beside them. */
export function eventSchema(type: DeliveryType) {
  const { payload, summary, example } = eventKindOf(type);
  return z
    .object({
      type: z.literal(type),
      emittedAt: z.iso.datetime({ offset: true }).describe('When it happened.'),
      ...payload.shape,
    })
    .meta({ description: summary, examples: [{ type, emittedAt: '2026-03-04T05:06:07+00:00', ...example }] });
}
