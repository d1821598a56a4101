import { describe, expect, it } from 'vitest';
import type { BroadcastStats } from '../../../../../src/web/dashboard/broadcasts/broadcast-stats.ts';
import { broadcastVerdict } from '../../../../../src/web/dashboard/broadcasts/broadcast-verdict.ts';

const stats: BroadcastStats = {
  liveStreamId: 'li1',
  broadcastId: 'br1',
  state: 'live',
  durationSeconds: 60,
  viewers: 3,
  bitrateBitsPerSecond: 2_500_000,
  framesPerSecond: 30,
  droppedFrames: 0,
  missingFrames: 0,
  videoCodec: 'avc1.64001f',
  audioCodec: 'mp4a.40.2',
  width: 1280,
  height: 720,
};

const alarm = (name: string) => ({ alarm: name, message: `${name}. Do something.` });
const transport = (packetsLost: number, packetsRecovered: number) => ({
  ...stats,
  transport: { packetsReceived: 10_000, packetsLost, packetsRecovered },
});

describe('the verdict about a broadcast', () => {
  it('says what viewers get while all is well', () => {
    expect(broadcastVerdict({ state: 'live', stats, alarms: [] })).toEqual({
      tone: 'good',
      text: 'Healthy: viewers see a steady picture at 720p.',
    });
    const portrait = { ...stats, width: 720, height: 1280, audioCodec: undefined as never };
    expect(broadcastVerdict({ state: 'live', stats: portrait, alarms: [] }).text).toContain(
      '720p, without audio',
    );
    const { width: _, height: __, ...audio } = stats;
    expect(broadcastVerdict({ state: 'live', stats: audio, alarms: [] }).text).toContain('steady audio');
  });

  it('leads with the alarm that is worst for viewers, and counts the others', () => {
    const alarms = [alarm('keyframes-too-far-apart'), alarm('video-missing'), alarm('bitrate-low')];
    expect(broadcastVerdict({ state: 'live', stats, alarms })).toEqual({
      tone: 'bad',
      text: 'Viewers see a frozen picture: no video arrives (and 2 more problems).',
    });
    expect(broadcastVerdict({ state: 'live', stats, alarms: [alarm('of-a-newer-server')] })).toEqual({
      tone: 'warning',
      text: 'of-a-newer-server. Do something.',
    });
  });

  it('tells of packets that are lost for good only', () => {
    const judge = (lost: number, recovered: number) =>
      broadcastVerdict({ state: 'live', stats: transport(lost, recovered), alarms: [] }).tone;
    expect(judge(300, 290)).toBe('good');
    expect(judge(300, 100)).toBe('warning');
  });

  it('says what happens next without a publisher, whatever was measured before', () => {
    const texts = (['off', 'waiting', 'stopping'] as const).map(
      state => broadcastVerdict({ state, stats, alarms: [alarm('video-missing')] }).text,
    );
    expect(texts).toEqual([
      'Offline. It goes live when your encoder starts.',
      'Encoder disconnected. Waiting up to a minute for it to reconnect.',
      'The encoder stopped. The broadcast ends in a few seconds.',
    ]);
    expect(broadcastVerdict({ state: 'off', alarms: [], isPulled: true }).text).toContain('source');
    expect(broadcastVerdict({ state: 'live', alarms: [] }).text).toMatch(/^Live/);
    const connecting = { waitingFor: 'keyframe' } as const;
    expect(broadcastVerdict({ state: 'off', alarms: [], connecting }).text).toBe(
      'Connected, waiting for a keyframe.',
    );
  });
});
