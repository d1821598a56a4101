import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { BroadcastInfo } from '../../../../src/live/broadcast/broadcast-subscriber.ts';
import { HealthHistory, type HealthMeasurement } from '../../../../src/live/health/health-history.ts';
import { HealthSampler } from '../../../../src/live/health/health-sampler.ts';

const startMs = Date.parse('2026-03-04T05:06:00Z');
const measured = (bitrate: number | undefined, viewers = 2): HealthMeasurement => ({
  bitrateBitsPerSecond: bitrate,
  framesPerSecond: bitrate === undefined ? undefined : 30,
  audioDriftMilliseconds: undefined,
  viewers,
});

/** A history of so many seconds, of which each has the bitrate of its number. */
function historyOf(seconds: number): HealthHistory {
  const history = new HealthHistory();
  for (let second = 0; second < seconds; second += 1) history.add(measured(second), startMs + second * 1000);
  return history;
}

describe('a history of health', () => {
  test.each([
    // The newest sample is that of the step that is being measured.
    [300, 300, 1, 300],
    [3_600, 3_600, 10, 360],
    [43_200, 43_200, 60, 720],
    [100_000, 300, 1, 300],
    [100_000, 3_600, 10, 360],
    [100_000, 43_200, 60, 720],
    [20, 300, 1, 20],
    [20, 43_200, 60, 1],
  ])('of %d s tells its last %d s in steps of %d s, as %d samples', (length, seconds, step, count) => {
    const { stepSeconds, samples } = historyOf(length).excerpt(seconds);
    expect([stepSeconds, samples.length]).toEqual([step, count]);
    const stepMs = step * 1000;
    const times = samples.map(({ atMs }) => atMs);
    expect(times.slice(1).every((atMs, index) => atMs - times[index]! === stepMs)).toBe(true);
    expect(times.at(-1)).toBe(Math.floor((startMs + (length - 1) * 1000) / stepMs) * stepMs);
  });

  test('has means for longer steps', () => {
    const { samples } = historyOf(61).excerpt(3_600);
    expect(samples.map(one => one.bitrateBitsPerSecond)).toEqual([5, 15, 25, 35, 45, 55, 60]);
    expect(samples[0]).toEqual({
      atMs: startMs,
      bitrateBitsPerSecond: 5,
      framesPerSecond: 30,
      viewers: 2,
      audioDriftMilliseconds: undefined,
    });
  });

  test('knows no rates while no publisher was connected, and leaves out what was not measured', () => {
    const history = new HealthHistory();
    history.add(measured(100), startMs);
    history.add(measured(undefined), startMs + 1000);
    history.add(measured(300), startMs + 9000);
    expect(
      history.excerpt(300).samples.map(({ atMs, ...one }) => [atMs - startMs, one.bitrateBitsPerSecond]),
    ).toEqual([
      [0, 100],
      [1000, undefined],
      [9000, 300],
    ]);
    expect(history.excerpt(3_600).samples).toMatchObject([{ bitrateBitsPerSecond: 200, viewers: 2 }]);
  });

  test('begins anew when the clock is set back', () => {
    const history = historyOf(10);
    history.add(measured(7), startMs - 60_000);
    expect(history.excerpt(300).samples).toMatchObject([{ atMs: startMs - 60_000, bitrateBitsPerSecond: 7 }]);
  });

  test('has a memory of a fixed size', () => {
    const short = process.memoryUsage().arrayBuffers;
    const histories = [historyOf(1), historyOf(1)];
    const bytes = process.memoryUsage().arrayBuffers - short;
    expect(bytes / histories.length).toBeLessThan(32 * 1024);
  });
});

describe('histories', () => {
  beforeEach(() => void vi.useFakeTimers({ now: startMs }));
  afterEach(() => void vi.useRealTimers());

  const open = (liveStreamId: string, broadcastId: string) =>
    ({ liveStreamId, broadcastId, startedAtMs: Date.now() }) as BroadcastInfo;
  const newHistories = (measure: (liveStreamId: string) => HealthMeasurement | undefined, maxEnded = 100) =>
    new HealthSampler({ measure, maxEnded, clock: { nowMs: Date.now, monotonicMs: Date.now } });

  test('are measured each second while a broadcast runs, and not otherwise', () => {
    const measure = vi.fn(() => measured(100));
    const histories = newHistories(measure);
    vi.advanceTimersByTime(10_000);
    const follower = histories.follow(open('li1', 'br1'));
    vi.advanceTimersByTime(10_000);
    expect(measure).toHaveBeenCalledTimes(10);
    expect(histories.newest('li1', 300)).toMatchObject({ broadcastId: 'br1', endedAtMs: undefined });
    expect(histories.newest('li1', 300)?.samples).toHaveLength(10);
    expect(histories.newest('li2', 300)).toBeUndefined();
    follower.ended('completed');
    vi.advanceTimersByTime(10_000);
    expect(measure).toHaveBeenCalledTimes(10);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('of the last broadcast are kept for a day, unless the stream is deleted or plays again', () => {
    let bitrate: number | undefined = 100;
    const histories = newHistories(() => (bitrate === undefined ? undefined : measured(bitrate)));
    const run = (liveStreamId: string, broadcastId: string, reason: 'completed' | 'deleted') => {
      const follower = histories.follow(open(liveStreamId, broadcastId));
      vi.advanceTimersByTime(3_000);
      follower.ended(reason);
    };
    run('li1', 'br1', 'completed');
    run('li2', 'br2', 'deleted');
    expect(histories.newest('li1', 300)?.endedAtMs).toBe(startMs + 3_000);
    expect(histories.newest('li2', 300)).toBeUndefined();
    bitrate = undefined;
    run('li1', 'br3', 'completed');
    expect(histories.newest('li1', 300)?.broadcastId).toBe('br1');
    bitrate = 200;
    run('li1', 'br4', 'completed');
    expect(histories.newest('li1', 300)?.broadcastId).toBe('br4');
    vi.advanceTimersByTime(24 * 3_600_000);
    expect(histories.newest('li1', 300)).toBeUndefined();
  });

  test('of many streams that ended give way to newer ones', () => {
    const histories = newHistories(() => measured(1), 2);
    for (const number of [1, 2, 3]) {
      const follower = histories.follow(open(`li${number}`, `br${number}`));
      vi.advanceTimersByTime(1_000);
      follower.ended('completed');
    }
    expect([1, 2, 3].map(number => histories.newest(`li${number}`, 300)?.broadcastId)).toEqual([
      undefined,
      'br2',
      'br3',
    ]);
  });
});
