import { expect, test } from 'vitest';
import {
  connectionQuality,
  readCounters,
  type UplinkStats,
  uplinkStats,
} from '../../../../../src/web/dashboard/pages/live/studio/connection-quality.ts';
import { reconnectDelayMs } from '../../../../../src/web/dashboard/pages/live/studio/reconnect-delay.ts';

const healthy: UplinkStats = {
  bitsPerSecond: 2_500_000,
  framesPerSecond: 30,
  width: 1280,
  height: 720,
  roundTripMs: 40,
  lossShare: 0,
  limitedBy: 'none',
};

test.each([
  ['a healthy connection', {}, 'good'],
  ['nothing reported yet', { roundTripMs: undefined, lossShare: undefined }, 'good'],
  ['some loss', { lossShare: 0.03 }, 'fair'],
  ['much loss', { lossShare: 0.1 }, 'poor'],
  ['a long way', { roundTripMs: 300 }, 'fair'],
  ['a very long way', { roundTripMs: 700 }, 'poor'],
  ['a limited bitrate', { limitedBy: 'bandwidth', bitsPerSecond: 2_000_000 }, 'fair'],
  ['a third of the bitrate', { limitedBy: 'bandwidth', bitsPerSecond: 800_000 }, 'poor'],
  ['a still image, which needs few bits', { bitsPerSecond: 100_000 }, 'good'],
  ['a busy device', { limitedBy: 'cpu' }, 'fair'],
  ['a device that is too busy', { limitedBy: 'cpu', framesPerSecond: 9 }, 'poor'],
] as const)('the connection quality with %s', (_what, change, grade) => {
  expect(connectionQuality({ ...healthy, ...change }, 2_500_000).grade).toBe(grade);
});

test('rates are those between two reports of the connection', () => {
  const report = (timestamp: number, bytesSent: number, framesSent: number) => [
    { type: 'outbound-rtp', kind: 'audio', timestamp, bytesSent: bytesSent / 10 },
    {
      type: 'outbound-rtp',
      kind: 'video',
      timestamp,
      bytesSent,
      framesSent,
      frameWidth: 1280,
      frameHeight: 720,
      qualityLimitationReason: 'bandwidth',
    },
    { type: 'remote-inbound-rtp', kind: 'video', timestamp, roundTripTime: 0.0421, fractionLost: 0.25 },
  ];
  expect(readCounters([])).toBeUndefined();
  const former = readCounters(report(1_000, 100_000, 30))!;
  const now = readCounters(report(3_000, 600_000, 88))!;
  expect(uplinkStats(former, now)).toEqual({
    bitsPerSecond: 2_200_000,
    framesPerSecond: 29,
    width: 1280,
    height: 720,
    roundTripMs: 42,
    lossShare: 0.25,
    limitedBy: 'bandwidth',
  });
  expect(uplinkStats(now, now)).toBeUndefined();
  // Counters of another connection count from the start.
  expect(uplinkStats(now, former)).toBeUndefined();
});

test('reconnects at once, then less often, until the broadcast has ended', () => {
  expect([0, 1, 2, 3, 4, 9].map(attempt => reconnectDelayMs(attempt, 0))).toEqual([
    0, 1_000, 2_000, 3_000, 5_000, 5_000,
  ]);
  expect(reconnectDelayMs(0, 60_000)).toBeUndefined();
});
