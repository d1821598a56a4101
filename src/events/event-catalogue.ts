import * as z from 'zod';
import { formatAtom } from '../shared/clock.ts';

const liveStreamId = z.string().describe('Id of the live stream.');
const videoId = z.string().describe('Id of the video.');

const alarm = z
  .string()
  .describe(
    '`keyframes-too-far-apart`, `bitrate-collapsed`, `bitrate-low`, `frame-rate-collapsed`, `audio-missing`, `video-missing`, `timestamps-jumping`, `audio-video-drift` or `frequent-reconnects`.',
  );
const alarmMessage = z.string().describe('Tells the broadcaster the problem and its solution.');

const recordedFrom = liveStreamId.optional().describe('Only for a recording: id of the live stream.');
const failureReason = z.string().describe('A sentence for the owner of the video.');

interface EventKind {
  readonly summary: string;
  readonly payload: z.ZodObject;
  readonly example: Readonly<Record<string, unknown>>;
}

const eventCatalogue = {
  'live-stream.broadcast.started': {
    summary:
      'A broadcast has started and can be played. A publisher that reconnects in time does not start another one.',
    payload: z.object({ liveStreamId }),
    example: { liveStreamId: 'li5Ds8GhJk1Qw3ErTy6UiOpA' },
  },
  'live-stream.broadcast.ended': {
    summary: 'A broadcast has ended, for any reason.',
    payload: z.object({ liveStreamId }),
    example: { liveStreamId: 'li5Ds8GhJk1Qw3ErTy6UiOpA' },
  },
  'live-stream.restream.stopped': {
    summary: 'Restreaming to a destination stopped while the broadcast continues.',
    payload: z.object({
      liveStreamId,
      name: z.string().describe('Your name for the destination.'),
      reason: z
        .string()
        .describe(
          '`sandbox-limit`: the time limit of the sandbox is reached. `codec`: the codec cannot be restreamed.',
        ),
    }),
    example: { liveStreamId: 'li5Ds8GhJk1Qw3ErTy6UiOpA', name: 'Mirror', reason: 'sandbox-limit' },
  },
  'live-stream.quality.dropped': {
    summary:
      'A rendition of a broadcast is no longer offered, until the next broadcast. Its viewers switch to the next lower one.',
    payload: z.object({
      liveStreamId,
      quality: z.string().describe('For example `720p`.'),
      reason: z
        .enum(['too-slow', 'encoder-failed', 'not-aligned', 'stopped'])
        .describe(
          'The server was too slow for it, or its encoder failed repeatedly. For a rendition that your encoder sends: its keyframes do not align with those of the main track, or it stopped.',
        ),
    }),
    example: { liveStreamId: 'li5Ds8GhJk1Qw3ErTy6UiOpA', quality: '720p', reason: 'too-slow' },
  },
  'live-stream.alarm.raised': {
    summary:
      'The stream from the encoder has a problem that affects viewers. Sent at most once a minute per alarm. Alarms end with the broadcast, without an event.',
    payload: z.object({ liveStreamId, alarm, message: alarmMessage }),
    example: {
      liveStreamId: 'li5Ds8GhJk1Qw3ErTy6UiOpA',
      alarm: 'keyframes-too-far-apart',
      message: 'Keyframes arrive every 8 s or less often. Set the keyframe interval to 2 s in the encoder.',
    },
  },
  'live-stream.alarm.cleared': {
    summary: 'The cause of an alarm has been gone for 10 s.',
    payload: z.object({ liveStreamId, alarm, message: alarmMessage }),
    example: {
      liveStreamId: 'li5Ds8GhJk1Qw3ErTy6UiOpA',
      alarm: 'keyframes-too-far-apart',
      message: 'The keyframe interval is short enough again.',
    },
  },
  'video.source.recorded': {
    summary: 'The recording of a live stream is complete and waiting to be encoded.',
    payload: z.object({ liveStreamId, videoId }),
    example: { liveStreamId: 'li5Ds8GhJk1Qw3ErTy6UiOpA', videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN' },
  },
  'video.source.failed': {
    summary:
      'The source of a video failed permanently: an upload or import that did not complete, or a recording that could not be joined. The video accepts a new upload.',
    payload: z.object({ videoId, reason: failureReason, liveStreamId: recordedFrom }),
    example: {
      videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN',
      reason: 'The server of the source responded with status 404. Check the address, or upload the file.',
    },
  },
  'video.encoding.failed': {
    summary:
      'The encoding of a video, or a part of it, failed permanently. A video that cannot be played accepts a new upload.',
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
      'Recording stopped while the broadcast continues, because of the disk or the storage limit. It resumes, in another video, once that is possible.',
    payload: z.object({
      liveStreamId,
      videoId: videoId.optional().describe('Id of the video with the recording so far, if there is any.'),
      reason: z
        .enum(['disk-low', 'disk-slow', 'disk-error', 'storage-limit'])
        .describe(
          'The disk is almost full, too slow or failing, or the project has reached its storage limit.',
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
      'A rendition of a video is encoded. Sent once for each HLS rendition, and once for the MP4 at the highest quality.',
    payload: z.object({
      videoId,
      encoding: z.enum(['hls', 'mp4']),
      quality: z.string().describe('For example `720p`.'),
      liveStreamId: recordedFrom,
    }),
    example: { videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN', encoding: 'hls', quality: '480p' },
  },
  'video.expiring': {
    summary: 'A video expires within 24 hours. To keep it, set its `expiresAt` to null or a later time.',
    payload: z.object({
      videoId,
      expiresAt: z.string().describe('Time at which the video is deleted.'),
      liveStreamId: recordedFrom,
    }),
    example: { videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN', expiresAt: '2026-03-05T05:06:07+00:00' },
  },
  'video.expired': {
    summary: 'A video has expired and was deleted.',
    payload: z.object({
      videoId,
      deletesAt: z
        .string()
        .optional()
        .describe('You can restore the video until then. Absent if the trash is turned off.'),
      liveStreamId: recordedFrom,
    }),
    example: { videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN', deletesAt: '2026-06-03T05:06:07+00:00' },
  },
  'video.caption.generated': {
    summary: 'Automatic captions of a video are complete, and offered to viewers.',
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
    summary: 'The generated summary of a video is complete.',
    payload: z.object({ videoId, summaryId: z.string().describe('Id of the summary.') }),
    example: { videoId: 'vi2Rk9TqLm4Xc7WdZp0HsBeN', summaryId: 'summary_4Kd8sLq2Wm6Xr1Tz9Bn3Vc' },
  },
} as const satisfies Record<string, EventKind>;

export type EventType = keyof typeof eventCatalogue;

export const eventTypes = Object.keys(eventCatalogue) as [EventType, ...EventType[]];

/**
 * Type of test deliveries. Not in the catalogue: there are no subscriptions to it, and the feed never sends it.
 */
export const testType = 'webhook.test';

const testEvent = {
  summary:
    'A test of the webhook was requested. It is sent once, without retries, and needs no subscription.',
  payload: z.object({ webhookId: z.string().describe('Id of the webhook.') }),
  example: { webhookId: 'webhook_9Pf3kRt7Zv1Ym5Hc8Qj2Ns' },
} satisfies EventKind;

export const deliveryTypes = [...eventTypes, testType] as const;

export type DeliveryType = (typeof deliveryTypes)[number];

export function eventKindOf(type: DeliveryType): EventKind {
  return type === testType ? testEvent : eventCatalogue[type];
}

export function eventSchema(type: DeliveryType) {
  const { payload, summary, example } = eventKindOf(type);
  return z
    .object({
      type: z.literal(type),
      emittedAt: z.iso.datetime({ offset: true }).describe('Time of the event.'),
      ...payload.shape,
    })
    .meta({ description: summary, examples: [{ type, emittedAt: '2026-03-04T05:06:07+00:00', ...example }] });
}

export function eventBody(event: {
  readonly type: string;
  readonly createdAtMs: number;
  readonly payload: Readonly<Record<string, unknown>>;
}): Record<string, unknown> {
  return { type: event.type, emittedAt: formatAtom(event.createdAtMs), ...event.payload };
}
