import { describe, expect, test } from 'vitest';
import { SampleClock } from '../../../../src/live/packaging/sample-clock.ts';

const video = { timescale: 90_000, roundingMs: 1.05, maxDeviationMs: 3 };
const audio = { timescale: 48_000, frameSeconds: 1024 / 48_000, roundingMs: 3, maxDeviationMs: 40 };

interface Placed {
  readonly atMs: number;
  readonly start: number;
  readonly end: number;
  readonly isEndKnownAtOnce: boolean;
}

/** Places frames, and checks that each starts where the one before it ends. */
function placeAll(clock: SampleClock, timesMs: readonly number[]): Placed[] {
  const placed: Placed[] = [];
  let open: Omit<Placed, 'end'> | undefined;
  for (const atMs of timesMs) {
    clock.next(atMs);
    if (open !== undefined) placed.push({ ...open, end: clock.startTicks });
    else if (placed.length > 0) expect(clock.startTicks).toBe(placed.at(-1)!.end);
    const isEndKnownAtOnce = clock.endTicks !== undefined;
    open = { atMs, start: clock.startTicks, isEndKnownAtOnce };
    if (clock.endTicks === undefined) continue;
    placed.push({ ...open, end: clock.endTicks });
    open = undefined;
  }
  if (open !== undefined) placed.push({ ...open, end: clock.lastEndTicks });
  for (const { start, end } of placed) expect(end).toBeGreaterThan(start);
  return placed;
}

const rounded = (count: number, frameMs: number, fromMs = 7000) =>
  Array.from({ length: count }, (_, index) => Math.round(fromMs + index * frameMs));

function maxDeviationMs(placed: readonly Placed[], timescale: number): number {
  return Math.max(...placed.map(({ atMs, start }) => Math.abs((start * 1000) / timescale - atMs)));
}

describe('video at a constant rate', () => {
  test.each([
    ['24000/1001', 1001 / 24, [3753, 3754]],
    ['25', 40, [3600]],
    ['30000/1001', 1001 / 30, [3003]],
    ['30', 1000 / 30, [3000]],
    ['60000/1001', 1001 / 60, [1501, 1502]],
    ['60', 1000 / 60, [1500]],
  ])(
    'of %s: all frames have the exact duration, known at once from the fourth on',
    (_, frameMs, durations) => {
      const clock = new SampleClock({ ...video, declaredFrameSeconds: [frameMs / 1000] });
      const placed = placeAll(clock, rounded(2000, frameMs));
      expect([...new Set(placed.map(({ start, end }) => end - start))].toSorted()).toEqual(durations);
      expect(placed.slice(3).every(({ isEndKnownAtOnce }) => isEndKnownAtOnce)).toBe(true);
      expect(maxDeviationMs(placed, 90_000)).toBeLessThan(1.05);
    },
  );

  test('with truncated times: stays on the grid', () => {
    const clock = new SampleClock({ ...video, declaredFrameSeconds: [1 / 30] });
    const times = Array.from({ length: 1000 }, (_, index) => Math.floor(7000.9 + (index * 1000) / 30));
    expect(new Set(placeAll(clock, times).map(({ start, end }) => end - start))).toEqual(new Set([3000]));
  });

  test('that nobody declares: is measured', () => {
    const placed = placeAll(new SampleClock(video), rounded(300, 1001 / 30));
    const later = placed.slice(20);
    expect(later.every(({ isEndKnownAtOnce }) => isEndKnownAtOnce)).toBe(true);
    expect(later.every(({ start, end }) => Math.abs(end - start - 3003) < 10)).toBe(true);
    expect(maxDeviationMs(placed, 90_000)).toBeLessThan(2.5);
  });

  test('that is declared wrong: is measured', () => {
    const clock = new SampleClock({ ...video, declaredFrameSeconds: [1 / 60, 1 / 25] });
    const placed = placeAll(clock, rounded(300, 1000 / 30));
    expect(new Set(placed.slice(20).map(({ start, end }) => end - start))).toEqual(new Set([3000]));
  });

  test('that differs a little from the declared one: is followed', () => {
    const clock = new SampleClock({ ...video, declaredFrameSeconds: [1 / 30] });
    const placed = placeAll(clock, rounded(5000, 1001 / 30));
    expect(maxDeviationMs(placed, 90_000)).toBeLessThan(3.1);
    expect(placed.slice(100).filter(({ isEndKnownAtOnce }) => !isEndKnownAtOnce)).toEqual([]);
  });

  test('puts composition times on the grid', () => {
    const clock = new SampleClock({ ...video, declaredFrameSeconds: [1 / 30] });
    placeAll(clock, rounded(10, 1000 / 30));
    expect([0, 33, 34, 67, 100, -33, 50].map(ms => clock.compositionOffset(ms))).toEqual([
      0, 3000, 3000, 6000, 9000, -3000, 4500,
    ]);
  });
});

describe('video whose rate varies', () => {
  test('waits for the next frame, and keeps its times', () => {
    const times = Array.from({ length: 400 }, (_, index) => 7000 + index * 40 + ((index * 7919) % 29));
    const placed = placeAll(new SampleClock({ ...video, declaredFrameSeconds: [1 / 25] }), times);
    const early = placed.filter(({ isEndKnownAtOnce }) => isEndKnownAtOnce);
    expect(early.length).toBeLessThan(40);
    const exact = placed.filter(({ atMs, start }) => Math.abs(start / 90 - atMs) < 3.1);
    expect(exact.length).toBeGreaterThan(350);
  });

  test('a missing frame: the next one fills its place, and all later ones keep their times', () => {
    const times = rounded(100, 1000 / 30).filter((_, index) => index !== 50);
    const clock = new SampleClock({ ...video, declaredFrameSeconds: [1 / 30] });
    const placed = placeAll(clock, times);
    expect(placed.filter(({ atMs, start }) => Math.abs(start / 90 - atMs) > 1.1)).toHaveLength(1);
    expect(placed[50]).toMatchObject({ atMs: 8700, start: 780_000 });
    expect(placed.slice(60).every(({ isEndKnownAtOnce }) => isEndKnownAtOnce)).toBe(true);
  });

  test('another rate: takes it over', () => {
    const clock = new SampleClock({ ...video, declaredFrameSeconds: [1 / 30] });
    const placed = placeAll(clock, [...rounded(90, 1000 / 30), ...rounded(180, 1000 / 60, 10_000)]);
    expect(new Set(placed.slice(120).map(({ start, end }) => end - start))).toEqual(new Set([1500]));
    expect(maxDeviationMs(placed, 90_000)).toBeLessThan(35);
  });
});

describe('audio', () => {
  test('all frames last 1024 samples, known at once', () => {
    const placed = placeAll(new SampleClock(audio), rounded(3000, 1024 / 48));
    expect(new Set(placed.map(({ start, end }) => end - start))).toEqual(new Set([1024]));
    expect(placed.every(({ isEndKnownAtOnce }) => isEndKnownAtOnce)).toBe(true);
  });

  test('with jitter: all frames last 1024 samples', () => {
    const times = rounded(3000, 1024 / 48).map((atMs, index) => atMs + ((index * 7919) % 11) - 5);
    const placed = placeAll(new SampleClock(audio), times);
    expect(new Set(placed.slice(200).map(({ start, end }) => end - start))).toEqual(new Set([1024]));
  });

  test('whose clock is 1 % fast: is followed within 40 ms', () => {
    const placed = placeAll(new SampleClock(audio), rounded(6000, (1024 / 48) * 0.99));
    expect(maxDeviationMs(placed, 48_000)).toBeLessThan(40);
  });

  test('after a gap: continues at its own times', () => {
    const times = [...rounded(100, 1024 / 48), ...rounded(100, 1024 / 48, 10_000)];
    const placed = placeAll(new SampleClock(audio), times);
    expect(maxDeviationMs(placed.slice(101), 48_000)).toBeLessThan(1.1);
  });

  test('with timestamps that hardly increase: does not run ahead of them', () => {
    const times = Array.from({ length: 1000 }, (_, index) => 7000 + index);
    expect(maxDeviationMs(placeAll(new SampleClock(audio), times), 48_000)).toBeLessThan(100);
  });
});
