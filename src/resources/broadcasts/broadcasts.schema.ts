import { z } from 'zod';
import { listQuery, listSchema } from '../../http/routing/pagination.ts';

/** Query of `GET /live-streams/{liveStreamId}/broadcasts`. */
export const broadcastsQuerySchema = listQuery({}, ['startedAt']);

const time = z.iso.datetime({ offset: true });
const count = z.int().min(0);
const stateText =
  '`waiting`: the connection of its publisher was lost, and may come back. `stopping`: its publisher stopped, and the broadcast ends in a few seconds unless it starts again.';
const bitrate = z.int().min(0).describe('Picture and sound together.');

const sourceFields = {
  protocol: z.string().describe('`rtmp` or `rtmps`.'),
  encoder: z.string().optional().describe('What the encoder calls itself; absent when it does not say.'),
  videoCodec: z.string().optional().describe('As RFC 6381 names it; absent without picture.'),
  audioCodec: z.string().optional().describe('As RFC 6381 names it; absent without sound.'),
  width: z.int().optional().describe('Pixels.'),
  height: z.int().optional().describe('Pixels.'),
};

const source = {
  protocol: 'rtmp',
  encoder: 'obs-output module (libobs version 30.1.2)',
  videoCodec: 'avc1.64001f',
  audioCodec: 'mp4a.40.2',
  width: 1280,
  height: 720,
};

/** One time that a live stream was on air. */
export const broadcastSchema = z
  .object({
    broadcastId: z.string(),
    state: z.enum(['starting', 'live', 'waiting', 'stopping', 'ended']).describe(stateText),
    startedAt: time.describe('When its first publisher was taken.'),
    liveAt: time.optional().describe('When it could first be played; absent when it never could.'),
    endedAt: time.optional().describe('Absent while it goes on.'),
    endReason: z
      .string()
      .optional()
      .describe(
        'Why it ended, such as `publisher-stopped`, `publisher-gone` (its connection was lost), `completed`, `server-crashed`; absent while it is in progress.',
      ),
    ...sourceFields,
    averageBitrateBitsPerSecond: bitrate
      .optional()
      .describe(
        'While a publisher was connected. This and all that follow are absent until the end, and after a crash.',
      ),
    peakBitrateBitsPerSecond: bitrate.optional().describe('The most of a second.'),
    averageFramesPerSecond: z.number().min(0).optional().describe('While a publisher was connected.'),
    longestKeyframeIntervalSeconds: z.number().optional(),
    droppedFrames: count.optional().describe('Came in, and this server could not package them.'),
    missingFrames: count.optional().describe("Never came, by the encoder's timestamps."),
    droppedConnections: count.optional().describe('How often the publisher was lost before the end.'),
    awaySeconds: z.number().min(0).optional().describe('For how long there was no publisher.'),
  })
  .meta({
    id: 'Broadcast',
    examples: [
      {
        broadcastId: 'br5Ds8GhJk1Qw3ErTy6UiOpA',
        state: 'ended',
        startedAt: '2026-03-04T05:06:07+00:00',
        liveAt: '2026-03-04T05:06:08+00:00',
        endedAt: '2026-03-04T06:06:07+00:00',
        endReason: 'completed',
        ...source,
        averageBitrateBitsPerSecond: 2_610_400,
        peakBitrateBitsPerSecond: 3_124_000,
        averageFramesPerSecond: 29.97,
        longestKeyframeIntervalSeconds: 2.002,
        droppedFrames: 0,
        missingFrames: 12,
        droppedConnections: 1,
        awaySeconds: 4.2,
      },
    ],
  });

/** One time that a live stream was on air. */
export type BroadcastView = z.input<typeof broadcastSchema>;

/** A page of broadcasts. */
export const broadcastListSchema = listSchema(broadcastSchema);

const alarmSchema = z
  .object({
    alarm: z.string().describe('What is wrong, as the event `live-stream.alarm.raised` tells it.'),
    message: z.string().describe('For the person at the encoder: what is wrong, and what to do.'),
    raisedAt: time,
  })
  .meta({ id: 'IngestAlarm' });

const keyframeInterval = z
  .number()
  .optional()
  .describe('Between the last two keyframes; absent before the second.');

/** How what a live stream broadcasts comes in. */
export const ingestHealthSchema = z
  .object({
    broadcasting: z.boolean().describe('When it is false, all but `alarms`, which is empty, is absent.'),
    alarms: z.array(alarmSchema).describe('Those that are on.'),
    broadcastId: z.string().optional(),
    state: z.enum(['live', 'waiting', 'stopping']).optional().describe(stateText),
    durationSeconds: count.optional().describe('Since its first publisher was taken.'),
    ...sourceFields,
    protocol: sourceFields.protocol.optional(),
    bitrateBitsPerSecond: bitrate
      .optional()
      .describe(
        'Audio and video together: the mean of the last 4 seconds; 0 while no publisher is connected.',
      ),
    averageBitrateBitsPerSecond: bitrate.optional().describe('While a publisher was connected.'),
    peakBitrateBitsPerSecond: bitrate.optional().describe('The most of a second.'),
    framesPerSecond: count
      .optional()
      .describe('The mean of the last 4 seconds; 0 while no publisher is connected.'),
    averageFramesPerSecond: z.number().min(0).optional().describe('While a publisher was connected.'),
    declaredFramesPerSecond: z
      .number()
      .optional()
      .describe('What the encoder says; absent when it does not.'),
    keyframeIntervalSeconds: keyframeInterval,
    longestKeyframeIntervalSeconds: keyframeInterval.describe('The longest of the broadcast.'),
    audioDriftMilliseconds: z
      .int()
      .optional()
      .describe(
        'How far sound is ahead of the picture, beyond what the order of arrival explains; negative where it is behind. Absent while it is not known.',
      ),
    timestampJumps: count.optional().describe("How often the encoder's timestamps were set anew."),
    droppedFrames: count.optional().describe('Came in, and this server could not package them.'),
    missingFrames: count.optional().describe("Never came, by the encoder's timestamps."),
    droppedConnections: count.optional().describe('How often the publisher was lost.'),
    lastDroppedAt: time.optional().describe('When it was lost last; absent when it never was.'),
    awaySeconds: z.number().min(0).optional().describe('For how long there was no publisher.'),
    silentSeconds: z
      .number()
      .min(0)
      .optional()
      .describe('Since audio or video came last; absent while no publisher is connected.'),
  })
  .meta({
    id: 'IngestHealth',
    examples: [
      {
        broadcasting: true,
        alarms: [
          {
            alarm: 'keyframes-too-far-apart',
            message:
              'Keyframes arrive every 8 s or less often. Set the keyframe interval to 2 s in the encoder.',
            raisedAt: '2026-03-04T05:06:12+00:00',
          },
        ],
        broadcastId: 'br5Ds8GhJk1Qw3ErTy6UiOpA',
        state: 'live',
        durationSeconds: 61,
        ...source,
        bitrateBitsPerSecond: 2_598_400,
        averageBitrateBitsPerSecond: 2_610_400,
        peakBitrateBitsPerSecond: 3_124_000,
        framesPerSecond: 30,
        averageFramesPerSecond: 29.97,
        declaredFramesPerSecond: 30,
        keyframeIntervalSeconds: 8.333,
        longestKeyframeIntervalSeconds: 8.333,
        audioDriftMilliseconds: 0,
        timestampJumps: 0,
        droppedFrames: 0,
        missingFrames: 12,
        droppedConnections: 0,
        awaySeconds: 0,
        silentSeconds: 0,
      },
      { broadcasting: false, alarms: [] },
    ],
  });

/** How what a live stream broadcasts comes in. */
export type IngestHealthView = z.input<typeof ingestHealthSchema>;

/** Query of `GET /live-streams/{liveStreamId}/health/history`. */
export const healthHistoryQuerySchema = z.strictObject({
  minutes: z
    .int()
    .min(1)
    .max(720)
    .default(5)
    .describe('How many of the last minutes. Up to 5 come in steps of 1 s, up to 60 of 10 s, more of 60 s.'),
});

const healthSampleSchema = z
  .object({
    measuredAt: time.describe('When the step begins.'),
    bitrateBitsPerSecond: bitrate
      .optional()
      .describe('The mean of the step. All rates are absent while no publisher was connected.'),
    framesPerSecond: count.optional(),
    audioDriftMilliseconds: z
      .int()
      .optional()
      .describe('How far audio was ahead of video; absent while it was not known.'),
    viewers: count.optional(),
  })
  .meta({ id: 'HealthSample' });

/** Health of the newest broadcast of a live stream over the last minutes. */
export const healthHistorySchema = z
  .object({
    broadcasting: z.boolean(),
    broadcastId: z
      .string()
      .optional()
      .describe('The broadcast that the samples are of; absent, as is all but `data`, when there are none.'),
    startedAt: time.optional(),
    endedAt: time
      .optional()
      .describe('Absent while the broadcast is in progress. The last minutes are those before the end.'),
    stepSeconds: z.int().optional().describe('Length of the step that each sample stands for.'),
    data: z
      .array(healthSampleSchema)
      .describe('Oldest first. Steps in which nothing was measured are left out.'),
  })
  .meta({
    id: 'IngestHealthHistory',
    examples: [
      {
        broadcasting: true,
        broadcastId: 'br5Ds8GhJk1Qw3ErTy6UiOpA',
        startedAt: '2026-03-04T05:06:07+00:00',
        stepSeconds: 1,
        data: [
          {
            measuredAt: '2026-03-04T05:06:08+00:00',
            bitrateBitsPerSecond: 2_598_400,
            framesPerSecond: 30,
            audioDriftMilliseconds: 0,
            viewers: 3,
          },
          { measuredAt: '2026-03-04T05:06:09+00:00', viewers: 3 },
        ],
      },
      { broadcasting: false, data: [] },
    ],
  });

/** Health of the newest broadcast of a live stream over the last minutes. */
export type HealthHistoryView = z.input<typeof healthHistorySchema>;
