import { describe, expect, test } from 'vitest';
import { AudioVideoDrift } from '../../../../src/live/health/audio-video-drift.ts';
import { IngestHealth } from '../../../../src/live/health/ingest-health.ts';

/** A publisher of 25 frames and 50 pieces of sound a second, from `fromMs` on. */
function publish(
  health: IngestHealth,
  fromMs: number,
  seconds: number,
  { bytes = 1000, fps = 25, hasAudio = true, gopSeconds = 2 } = {},
): void {
  const stepMs = 1000 / fps;
  for (let atMs = fromMs, index = 0; atMs < fromMs + seconds * 1000; atMs += stepMs, index += 1) {
    const isKeyframe = index % Math.round(gopSeconds * fps) === 0;
    health.arrived('video', atMs, atMs, bytes, isKeyframe, atMs);
    if (hasAudio) health.arrived('audio', atMs, atMs, 0, false, atMs);
  }
}

describe('the health of an ingest', () => {
  test('averages over the time that a publisher was connected, and tells of the time that none was', () => {
    const health = new IngestHealth();
    health.attached(1000);
    publish(health, 1000, 10);
    health.lost(11_000, 1_700_000_000_000);
    expect(health.stats(14_000)).toMatchObject({ awaySeconds: 3, silentSeconds: undefined });
    health.attached(16_000);
    publish(health, 16_000, 10, { bytes: 2000 });
    expect(health.stats(26_000)).toMatchObject({
      averageBitrateBitsPerSecond: 1500 * 25 * 8,
      peakBitrateBitsPerSecond: 2000 * 25 * 8,
      averageFramesPerSecond: 25,
      droppedConnections: 1,
      lastDroppedAtMs: 1_700_000_000_000,
      awaySeconds: 5,
      silentSeconds: 0,
    });
    health.stopped(26_000);
    expect(health.stats(60_000)).toMatchObject({ averageFramesPerSecond: 25, silentSeconds: undefined });
  });

  test('compares the last five seconds with the minute before, of this connection only', () => {
    const health = new IngestHealth();
    health.attached(1000);
    publish(health, 1000, 40, { bytes: 5000 });
    health.lost(41_000, 0);
    health.attached(50_000);
    publish(health, 50_000, 14);
    expect(health.alarmInputs(64_000).usual).toBeUndefined();
    publish(health, 64_000, 46);
    publish(health, 110_000, 6, { bytes: 200, fps: 10 });
    const { recent, usual } = health.alarmInputs(116_000);
    expect(recent).toEqual({ bitsPerSecond: 200 * 10 * 8, framesPerSecond: 10 });
    expect(usual?.bitsPerSecond).toBeCloseTo(1000 * 25 * 8, -4);
    expect(usual?.framesPerSecond).toBeCloseTo(25, 0);
  });

  test('knows the distance of keyframes before the next one is there', () => {
    const health = new IngestHealth();
    health.attached(0);
    publish(health, 0, 5, { gopSeconds: 9 });
    expect(health.alarmInputs(5000).keyframeDistanceSeconds).toBeCloseTo(4.96);
    expect(health.stats(5000).keyframeIntervalSeconds).toBeUndefined();
  });

  test('misses only tracks that came, or were announced, on this connection', () => {
    const health = new IngestHealth();
    health.attached(0);
    publish(health, 0, 3, { hasAudio: false });
    expect(health.alarmInputs(9000).silentSeconds).toEqual({ audio: undefined, video: expect.closeTo(6.04) });
    const media = { hasAudio: true, hasVideo: true, bitsPerSecond: undefined, framesPerSecond: 30 };
    health.declared(media);
    expect(health.alarmInputs(9000).silentSeconds.audio).toBe(9);
    expect(health.stats(9000).declaredFramesPerSecond).toBe(30);
    health.attached(10_000);
    expect(health.alarmInputs(20_000).silentSeconds).toEqual({ audio: undefined, video: undefined });
  });

  test('remembers jumps for a minute and losses for five', () => {
    const health = new IngestHealth();
    for (let index = 0; index < 40; index += 1) health.clockJumped(index * 1000);
    expect(health.alarmInputs(40_000).recentJumps).toBeGreaterThanOrEqual(3);
    expect(health.alarmInputs(100_000).recentJumps).toBe(0);
    expect(health.stats(100_000).timestampJumps).toBe(40);
    for (let index = 0; index < 3; index += 1) health.lost(index * 100_000, 0);
    expect(
      [health.alarmInputs(250_000), health.alarmInputs(300_000)].map(({ recentLosses }) => recentLosses),
    ).toEqual([3, 2]);
  });
});

describe('the drift of sound', () => {
  /** Feeds both tracks for 12 s: sound in bursts, and later or earlier than the picture by `offsetMs(now)`. */
  function driftOf(offsetMs: (nowMs: number) => number, burstMs = 20): number | undefined {
    const drift = new AudioVideoDrift();
    let sentMs = 0;
    for (let nowMs = 1000; nowMs < 13_000; nowMs += 20) {
      if (nowMs % 40 === 0) drift.arrived('video', nowMs, nowMs);
      if (nowMs - sentMs < burstMs) continue;
      sentMs = nowMs;
      for (let back = burstMs - 20; back >= 0; back -= 20) {
        drift.arrived('audio', nowMs - back + offsetMs(nowMs), nowMs);
      }
    }
    return drift.driftMs;
  }

  test.each([20, 200, 600])('is nothing where sound comes in bursts of %d ms', burstMs => {
    expect(driftOf(() => 0, burstMs)).toBe(0);
  });

  test.each([-700, 650])('of %d ms is found', offsetMs => {
    expect(Math.abs(driftOf(() => offsetMs)! - offsetMs)).toBeLessThanOrEqual(40);
  });

  test('that grows slowly is followed', () => {
    // The final drift is 130 ms, of which what came before the last few seconds is known.
    const drift = driftOf(nowMs => -nowMs / 100)!;
    expect(drift).toBeLessThan(-40);
    expect(drift).toBeGreaterThan(-130);
  });

  test('is not known while one track does not come', () => {
    const drift = new AudioVideoDrift();
    for (let nowMs = 0; nowMs < 8000; nowMs += 20) {
      drift.arrived('video', nowMs, nowMs);
      if (nowMs < 3000) drift.arrived('audio', nowMs, nowMs);
    }
    expect(drift.driftMs).toBeUndefined();
  });
});
