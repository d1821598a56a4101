import { describe, expect, test } from 'vitest';
import { Timeline } from '../../../../src/live/broadcast/timeline.ts';
import type { TrackKind } from '../../../../src/media/samples/media-sample.ts';

/** Places tags given as `[kind, timestamp]` and returns their times. */
function placeAll(tags: readonly (readonly [TrackKind, number])[], timeline = new Timeline(500)): number[] {
  return tags.map(([kind, timestampMs]) => timeline.place(kind, timestampMs).atMs);
}

/** Alternating video at 40 ms and audio at 20 ms from `fromMs`, for `count` video frames. */
function steady(fromMs: number, count: number): (readonly [TrackKind, number])[] {
  return Array.from({ length: count }, (_, index) => index * 40 + fromMs).flatMap(
    atMs =>
      [
        ['video', atMs],
        ['audio', atMs],
        ['audio', atMs + 20],
      ] as const,
  );
}

function distances(times: readonly number[]): number[] {
  return times.slice(1).map((time, index) => time - times[index]!);
}

describe('a steady publisher', () => {
  test('starts at zero with any first timestamp', () => {
    expect(placeAll(steady(123_456, 2))).toEqual([0, 0, 20, 40, 40, 60]);
  });

  test('keeps the distance between its tracks', () => {
    expect(
      placeAll([
        ['video', 1000],
        ['audio', 1013],
        ['video', 1040],
      ]),
    ).toEqual([0, 13, 40]);
  });

  test('may send one track slightly late', () => {
    expect(
      placeAll([
        ['video', 1000],
        ['video', 1040],
        ['audio', 1000],
        ['audio', 1021],
      ]),
    ).toEqual([0, 40, 0, 21]);
  });

  test('continues through the wrap at 2^32', () => {
    const top = 2 ** 32;
    const times = placeAll([
      ['video', top - 80],
      ['video', top - 40],
      ['video', 0],
      ['video', 40],
    ]);
    expect(distances(times)[0]).toBe(40);
    expect(times.every((time, index) => index === 0 || time > times[index - 1]!)).toBe(true);
    expect(times.at(-1)).toBeLessThan(200);
  });

  test('may send one frame per second', () => {
    expect(
      placeAll([
        ['video', 0],
        ['video', 1000],
        ['video', 2000],
        ['video', 3000],
      ]),
    ).toEqual([0, 1000, 2000, 3000]);
  });
});

describe('a publisher whose clock jumps', () => {
  test.each([
    ['jumps an hour ahead', 3_600_000],
    ['starts over from zero', -900_000],
  ])('%s: media continues without a gap on both tracks', (_, jumpMs) => {
    const timeline = new Timeline(500);
    placeAll(steady(1_000_000, 10), timeline);
    const endMs = timeline.endMs;
    const after = placeAll(steady(1_000_400 + jumpMs, 10), timeline);
    expect(after[0]! - endMs).toBeLessThanOrEqual(40);
    expect(after[1]! - after[0]!).toBeLessThanOrEqual(20);
    expect(after.at(-1)! - after[0]!).toBe(9 * 40 + 20);
  });

  test('causes one jump, not one per track', () => {
    const timeline = new Timeline(500);
    placeAll(steady(0, 5), timeline);
    const jumps = steady(500_000, 5).filter(([kind, at]) => timeline.place(kind, at).isClockJump);
    expect(jumps).toHaveLength(1);
  });

  test('may send tags of the old clock after the jump', () => {
    const timeline = new Timeline(500);
    placeAll(steady(0, 5), timeline);
    timeline.place('video', 700_000);
    expect(timeline.place('audio', 200).atMs).toBe(200);
    expect(timeline.place('audio', 700_010).isClockJump).toBe(false);
  });

  test('may run backwards frame by frame: time increases', () => {
    const times = placeAll([
      ['video', 400],
      ['video', 360],
      ['video', 320],
      ['video', 280],
    ]);
    expect(distances(times).every(distance => distance > 0)).toBe(true);
  });

  test('may lose time on all tracks: the gap is removed', () => {
    const timeline = new Timeline(500);
    placeAll(steady(0, 10), timeline);
    const endMs = timeline.endMs;
    const after = placeAll(steady(2000, 5), timeline);
    expect(after[0]! - endMs).toBeLessThanOrEqual(40);
    expect(after.at(-1)! - after[0]!).toBe(4 * 40 + 20);
  });
});

test('another connection continues at the end of the previous one', () => {
  const timeline = new Timeline(500);
  placeAll(steady(0, 10), timeline);
  const endMs = timeline.endMs;
  timeline.restart();
  expect(timeline.place('video', 88_000).atMs).toBe(endMs);
  expect(timeline.place('audio', 88_010).atMs).toBe(endMs + 10);
});

test('a track alone has a limit of its own for gaps', () => {
  const times = [0, 33, 67, 100, 500, 533];
  const alone = times.map(atMs => ['video', atMs] as const);
  const beside = alone.flatMap(([, atMs]) => [['video', atMs] as const, ['audio', atMs] as const]);
  expect(placeAll(alone, new Timeline(500, 0, 360)).at(-1)).toBe(166);
  expect(placeAll(beside, new Timeline(500, 0, 360)).at(-1)).toBe(533);
});

describe('slow pictures without sound', () => {
  const slides = [0, 10_000, 20_000, 30_000].map(atMs => ['video', atMs] as const);

  test('keep their times where the encoder declares them', () => {
    const timeline = new Timeline(500);
    timeline.expectFrames(10);
    expect(placeAll(slides, timeline)).toEqual([0, 10_000, 20_000, 30_000]);
  });

  test('and a clock that jumps further is not followed', () => {
    const timeline = new Timeline(500);
    timeline.expectFrames(10);
    expect(placeAll([...slides, ['video', 100_000]], timeline).at(-1)).toBe(30_020);
    timeline.expectFrames(1e6);
    expect(timeline.place('video', 400_000).isClockJump).toBe(true);
  });
});
