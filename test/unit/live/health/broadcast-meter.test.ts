import { describe, expect, test } from 'vitest';
import { BroadcastMeter } from '../../../../src/live/health/broadcast-meter.ts';

/** A publisher of `fps` frames of 1,000 bytes a second; gives the frames missing before each. */
function feed(meter: BroadcastMeter, { fps = 25, frames = 100, fromMs = 0, gop = 50, offsetMs = 0 }) {
  const missing: number[] = [];
  for (let index = 0; index < frames; index += 1) {
    const atMs = fromMs + (index * 1000) / fps;
    meter.arrived('video', 1000, atMs);
    missing.push(meter.videoFrame((Math.round(atMs) + offsetMs) >>> 0, Math.round(atMs), index % gop === 0));
  }
  return missing;
}

describe('a meter', () => {
  test('tells the mean bitrate and frame rate of the last four seconds', () => {
    const meter = new BroadcastMeter();
    feed(meter, { frames: 150 });
    meter.arrived('audio', 500, 5960);
    expect(meter.stats(6000)).toEqual({
      bitrateBitsPerSecond: (25 * 1000 + 500 / 4) * 8,
      peakBitrateBitsPerSecond: (25 * 1000 + 500) * 8,
      framesPerSecond: 25,
      droppedFrames: 0,
      missingFrames: 0,
      keyframeIntervalSeconds: 2,
      longestKeyframeIntervalSeconds: 2,
    });
  });

  test.each([1, 2])(
    'reads the same at each moment where keyframes of %d s are ten times as large',
    gopSeconds => {
      const meter = new BroadcastMeter();
      const rates = new Set<number>();
      for (let index = 0; index < 25 * 20; index += 1) {
        const atMs = index * 40;
        meter.arrived('video', index % (25 * gopSeconds) === 0 ? 10_000 : 1000, atMs);
        if (index > 25 * 5 && index % 25 === 12) rates.add(meter.stats(atMs).bitrateBitsPerSecond);
      }
      expect([...rates]).toEqual([(25 * 1000 + 9000 / gopSeconds) * 8]);
    },
  );

  test('shows a dip within seconds', () => {
    const meter = new BroadcastMeter();
    feed(meter, { frames: 250 });
    feed(meter, { fps: 5, frames: 20, fromMs: 10_000 });
    expect(meter.stats(14_000).framesPerSecond).toBe(5);
    const falling = new BroadcastMeter();
    feed(falling, { frames: 250 });
    feed(falling, { fps: 5, frames: 10, fromMs: 10_000 });
    expect(falling.stats(12_000).framesPerSecond).toBe(15);
  });

  test('of a connection that has just begun divides by its own time, and knows nothing of the one before', () => {
    const meter = new BroadcastMeter();
    feed(meter, { frames: 100 });
    meter.restart(4000);
    expect(meter.stats(4000)).toMatchObject({ bitrateBitsPerSecond: 0, framesPerSecond: 0 });
    feed(meter, { fps: 10, frames: 20, fromMs: 4000 });
    expect(meter.stats(6000)).toMatchObject({ bitrateBitsPerSecond: 80_000, framesPerSecond: 10 });
  });

  test.each([4.2, 9, 1e6])('falls to nothing when nothing comes for %d s', seconds => {
    const meter = new BroadcastMeter();
    feed(meter, { frames: 25 });
    expect(meter.stats(1000 + seconds * 1000)).toMatchObject({ bitrateBitsPerSecond: 0, framesPerSecond: 0 });
  });

  test('knows no distance of keyframes before the second', () => {
    const meter = new BroadcastMeter();
    feed(meter, { frames: 40 });
    expect(meter.stats(1600).keyframeIntervalSeconds).toBeUndefined();
  });

  test.each([0, 0xffffffff - 800])('finds frames that the timestamps leave out, from %d on', offsetMs => {
    const meter = new BroadcastMeter();
    feed(meter, { frames: 25, offsetMs });
    expect(feed(meter, { frames: 10, fromMs: 1120, offsetMs })[0]).toBe(3);
    expect(meter.stats(2000)).toMatchObject({ missingFrames: 3, droppedFrames: 0 });
  });

  test('takes another frame rate for what it is after a few frames', () => {
    const meter = new BroadcastMeter();
    feed(meter, { fps: 30, frames: 60 });
    feed(meter, { fps: 15, frames: 60, fromMs: 2000 });
    expect(meter.stats(6000).missingFrames).toBeLessThan(5);
  });

  test.each([
    ['jumps', 100_000],
    ['runs backwards', -900],
  ])('counts nothing as missing where the clock %s', (_, offsetMs) => {
    const meter = new BroadcastMeter();
    feed(meter, { frames: 25 });
    feed(meter, { frames: 25, fromMs: 1000, offsetMs });
    expect(meter.stats(2000).missingFrames).toBe(0);
  });

  test('counts nothing as missing while the publisher was away', () => {
    const meter = new BroadcastMeter();
    feed(meter, { frames: 25 });
    meter.restart(1000);
    feed(meter, { frames: 25, fromMs: 2500 });
    expect(meter.stats(3500).missingFrames).toBe(0);
  });
});
