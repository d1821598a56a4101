import * as z from 'zod';
import { listQuery, listSchema } from '../../../http/routing/pagination.ts';

export const broadcastsQuerySchema = listQuery({}, ['startedAt']);

const time = z.iso.datetime({ offset: true });
const count = z.int().min(0);
const stateText =
  '`waiting`: the publisher lost its connection and may reconnect. `stopping`: the publisher stopped, and the broadcast ends in a few seconds unless it starts again.';
const bitrate = z.int().min(0).describe('Video and audio together.');

const sourceFields = {
  protocol: z
    .string()
    .describe('`rtmp`, `rtmps`, `srt`, `whip`, or `pull` for a source that the server pulls.'),
  encoder: z.string().optional().describe('Name that the encoder sends; absent when it sends none.'),
  videoCodec: z.string().optional().describe('RFC 6381 codec string; absent without video.'),
  audioCodec: z
    .string()
    .optional()
    .describe('RFC 6381 codec string; absent without audio. For converted audio, the codec of the result.'),
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

const broadcastSchema = z
  .object({
    broadcastId: z.string(),
    state: z.enum(['starting', 'live', 'waiting', 'stopping', 'ended']).describe(stateText),
    startedAt: time.describe('When its first publisher was accepted.'),
    liveAt: time.optional().describe('When it became playable; absent when it never did.'),
    endedAt: time.optional().describe('Absent while it is in progress.'),
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
        'While a publisher was connected. This attribute and all that follow are absent until the end, and after a crash.',
      ),
    peakBitrateBitsPerSecond: bitrate.optional().describe('Highest rate of one second.'),
    averageFramesPerSecond: z.number().min(0).optional().describe('While a publisher was connected.'),
    longestKeyframeIntervalSeconds: z.number().optional(),
    droppedFrames: count.optional().describe('Received frames that this server could not package.'),
    missingFrames: count
      .optional()
      .describe("Frames that never arrived, judging by the encoder's timestamps."),
    droppedConnections: count.optional().describe('Lost connections of the publisher before the end.'),
    awaySeconds: z.number().min(0).optional().describe('Time without a publisher.'),
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

export type BroadcastView = z.input<typeof broadcastSchema>;

export const broadcastListSchema = listSchema(broadcastSchema);

const alarmSchema = z
  .object({
    alarm: z.string().describe('Name of the alarm, as in the event `live-stream.alarm.raised`.'),
    message: z.string().describe('For the person at the encoder: the problem and its solution.'),
    raisedAt: time,
  })
  .meta({ id: 'IngestAlarm' });

const ingestTrackSchema = z
  .object({
    kind: z.enum(['video', 'audio']),
    trackId: z.int().describe('0 for the main track.'),
    codec: z.string().describe('Its name, such as `H.264` or `AC-3`.'),
    width: z.int().optional().describe('Pixels.'),
    height: z.int().optional().describe('Pixels.'),
    channels: z.int().optional().describe('Absent if they are not known.'),
    name: z.string().optional().describe('From `audioTracks` of the live stream, or from the encoder.'),
    language: z
      .string()
      .optional()
      .describe('Language tag, from `audioTracks` of the live stream or from the encoder.'),
    rendition: z
      .string()
      .optional()
      .describe(
        'The rendition that viewers get, such as `source`, `720p` or `audio-1`; absent while there is none.',
      ),
    leftOutReason: z.string().optional().describe('Why viewers do not get the track, as a sentence.'),
    recordingLeftOutReason: z
      .string()
      .optional()
      .describe('Why the recording lacks the track, as a sentence.'),
  })
  .meta({ id: 'IngestTrack' });

const keyframeInterval = z
  .number()
  .optional()
  .describe('Between the last two keyframes; absent before the second.');

export const ingestHealthSchema = z
  .object({
    broadcasting: z
      .boolean()
      .describe('When it is false, `alarms` is empty and all other attributes are absent.'),
    alarms: z.array(alarmSchema).describe('Active alarms.'),
    broadcastId: z.string().optional(),
    state: z.enum(['live', 'waiting', 'stopping']).optional().describe(stateText),
    durationSeconds: count.optional().describe('Time since its first publisher was accepted.'),
    ...sourceFields,
    protocol: sourceFields.protocol.optional(),
    tracks: z
      .array(ingestTrackSchema)
      .optional()
      .describe('What the publisher sends, or sent last: video first, at most 32 tracks.'),
    bitrateBitsPerSecond: bitrate
      .optional()
      .describe(
        'Audio and video together: the mean of the last 4 seconds; 0 while no publisher is connected.',
      ),
    averageBitrateBitsPerSecond: bitrate.optional().describe('While a publisher was connected.'),
    peakBitrateBitsPerSecond: bitrate.optional().describe('Highest rate of one second.'),
    framesPerSecond: count
      .optional()
      .describe('The mean of the last 4 seconds; 0 while no publisher is connected.'),
    averageFramesPerSecond: z.number().min(0).optional().describe('While a publisher was connected.'),
    declaredFramesPerSecond: z
      .number()
      .optional()
      .describe('Frame rate that the encoder announces; absent when it announces none.'),
    keyframeIntervalSeconds: keyframeInterval,
    longestKeyframeIntervalSeconds: keyframeInterval.describe('Longest interval of the broadcast.'),
    audioDriftMilliseconds: z
      .int()
      .optional()
      .describe(
        'How far audio is ahead of video, beyond what the order of arrival explains; negative when it is behind. Absent while it is unknown.',
      ),
    timestampJumps: count.optional().describe("Resets of the encoder's timestamps."),
    droppedFrames: count.optional().describe('Received frames that this server could not package.'),
    missingFrames: count
      .optional()
      .describe("Frames that never arrived, judging by the encoder's timestamps."),
    droppedConnections: count.optional().describe('Lost connections of the publisher.'),
    lastDroppedAt: time.optional().describe('Last lost connection; absent when there was none.'),
    awaySeconds: z.number().min(0).optional().describe('Time without a publisher.'),
    silentSeconds: z
      .number()
      .min(0)
      .optional()
      .describe('Time since the last audio or video; absent while no publisher is connected.'),
    transport: z
      .object({
        roundTripMilliseconds: z.number().min(0).optional().describe('Absent until measured.'),
        packetsReceived: count,
        packetsLost: count.describe('Packets that were missing when later ones arrived.'),
        packetsRecovered: count.describe('Lost packets that arrived in time after all.'),
      })
      .optional()
      .describe(
        'The network between the encoder and this server, since the publisher connected. Absent for RTMP and pulled sources, and while no publisher is connected.',
      ),
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
        tracks: [
          { kind: 'video', trackId: 0, codec: 'H.264', width: 1280, height: 720, rendition: 'source' },
          { kind: 'audio', trackId: 0, codec: 'AAC', channels: 2, language: 'en', rendition: 'audio' },
          { kind: 'audio', trackId: 1, codec: 'AC-3', channels: 6, language: 'fr', rendition: 'audio-1' },
          {
            kind: 'video',
            trackId: 1,
            codec: 'H.264',
            width: 640,
            height: 360,
            leftOutReason: 'Its keyframes do not align with those of the main track.',
          },
        ],
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

export type IngestHealthView = z.input<typeof ingestHealthSchema>;

export const healthHistoryQuerySchema = z.strictObject({
  minutes: z
    .int()
    .min(1)
    .max(720)
    .default(5)
    .describe(
      'The last minutes to return: up to 5 in steps of 1 s, up to 60 in steps of 10 s, more in steps of 60 s.',
    ),
});

const healthSampleSchema = z
  .object({
    measuredAt: time.describe('Start of the step.'),
    bitrateBitsPerSecond: bitrate
      .optional()
      .describe('Mean of the step. All rates are absent while no publisher was connected.'),
    framesPerSecond: count.optional(),
    audioDriftMilliseconds: z
      .int()
      .optional()
      .describe('How far audio was ahead of video; absent while it was unknown.'),
    viewers: count.optional(),
  })
  .meta({ id: 'HealthSample' });

export const healthHistorySchema = z
  .object({
    broadcasting: z.boolean(),
    broadcastId: z
      .string()
      .optional()
      .describe('The broadcast of the samples; absent, like all but `data`, when there are none.'),
    startedAt: time.optional(),
    endedAt: time
      .optional()
      .describe('Absent while the broadcast is in progress. The last minutes are those before the end.'),
    stepSeconds: z.int().optional().describe('Length of the step of each sample.'),
    data: z.array(healthSampleSchema).describe('Oldest first. Steps without measurements are left out.'),
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

export type HealthHistoryView = z.input<typeof healthHistorySchema>;

const ingestLogEntrySchema = z
  .object({
    happenedAt: time,
    type: z
      .enum(['connected', 'disconnected', 'refused', 'ended', 'alarm-raised', 'alarm-cleared'])
      .describe('`ended` is the end of a broadcast.'),
    protocol: sourceFields.protocol
      .optional()
      .describe('Of an encoder that connected, was refused or sent no media.'),
    encoder: z.string().optional().describe('Its name; absent when it sends none.'),
    address: z
      .string()
      .optional()
      .describe(
        'Network address of an encoder that connected, was refused or sent no media. Absent for callers without the scope `live`.',
      ),
    reason: z
      .string()
      .optional()
      .describe(
        'Why the encoder disconnected or was refused, or why the broadcast ended, such as `unpublished` (it stopped), `already-publishing` or `no-keyframe`.',
      ),
    alarm: z.string().optional().describe('Name of the alarm, as in the event `live-stream.alarm.raised`.'),
    message: z.string().optional().describe('For the person at the encoder: the problem and its solution.'),
    times: count
      .optional()
      .describe(
        'How often the encoder was refused, or ended with the reason `no-media`, since another one connected or left, last at `happenedAt`.',
      ),
  })
  .meta({ id: 'IngestLogEntry' });

export const ingestLogSchema = z
  .object({
    connecting: z
      .object({
        protocol: sourceFields.protocol,
        encoder: sourceFields.encoder,
        waitingFor: z
          .enum(['media', 'keyframe'])
          .describe('`keyframe`: media arrives, and players cannot start before a keyframe.'),
      })
      .optional()
      .describe('The encoder that is connected while there is nothing to play yet.'),
    data: z.array(ingestLogEntrySchema).describe('Oldest first, at most 200.'),
  })
  .meta({
    id: 'IngestLog',
    examples: [
      {
        connecting: { protocol: 'rtmp', encoder: 'OBS', waitingFor: 'keyframe' },
        data: [
          {
            happenedAt: '2026-03-04T05:05:07+00:00',
            type: 'refused',
            protocol: 'rtmp',
            encoder: 'OBS',
            address: '192.0.2.1',
            reason: 'no-keyframe',
            message: 'No keyframe arrived for 10 s. Set the keyframe interval to 2 s in the encoder.',
            times: 3,
          },
          {
            happenedAt: '2026-03-04T05:06:07+00:00',
            type: 'connected',
            protocol: 'rtmp',
            encoder: 'OBS',
            address: '192.0.2.1',
          },
        ],
      },
    ],
  });

export type IngestLogView = z.input<typeof ingestLogSchema>;
