import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ProgramDateTimes } from '../../../../src/live/window/program-date-times.ts';
import { writeFragment } from '../../../../src/media/cmaf/fragment-writer.ts';
import { clippableBroadcast } from '../../../../src/vod/clip/broadcast-clip.ts';
import type { VodContext } from '../../../../src/vod/vod-context.ts';
import { videoTrack } from '../../../support/recording-sink.ts';
import { testTempDir } from '../../../support/temp-dir.ts';
import { readAll } from '../../media/cmaf/read-all.ts';

interface Segment {
  readonly date: number;
  /** Media time. */
  readonly at: number;
  readonly isIndependent?: boolean;
}

const startedAtMs = Date.UTC(2026, 0, 1);
const framesPerSecond = 50;
const segmentSeconds = 2;

/** Frames with their numbers. */
function fragmentAt({ at, isIndependent = true }: Segment): Buffer {
  const durationTicks = videoTrack.timescale / framesPerSecond;
  const samples = Array.from({ length: segmentSeconds * framesPerSecond }, (_, index) => {
    const data = Buffer.alloc(4);
    data.writeUInt32BE(at * framesPerSecond + index);
    return { durationTicks, compositionOffsetTicks: 0, isSync: isIndependent && index === 0, data };
  });
  return writeFragment(1, [{ trackId: videoTrack.id, baseDtsTicks: at * videoTrack.timescale, samples }]);
}

/** Makes a clip, and returns the media times of its start and of its end. */
async function clipped(
  segments: readonly (Segment & { readonly listedAt?: number })[],
  startSeconds: number,
  endSeconds: number,
): Promise<readonly [from: number, until: number]> {
  const folder = await testTempDir();
  const folders = { make: async () => ({ generation: 1, folder, name: 'hls-1' }) };
  const log = { info: () => {} };
  const context = { folders, log, clock: { nowMs: () => 0 }, files: {} } as unknown as VodContext;
  const media = {
    renditions: [[videoTrack]],
    segments: segments.map(segment => ({
      dateMs: startedAtMs + segment.date * 1000,
      offsetSeconds: segment.listedAt ?? segment.at,
      durationSeconds: segmentSeconds,
      isIndependent: segment.isIndependent ?? true,
      parts: () => [fragmentAt(segment)],
    })),
  };
  const target = { videoId: 'vi1', path: join(folder, 'source'), isExact: false };
  const broadcast = clippableBroadcast(startedAtMs, media, context);
  const range = { startSeconds, endSeconds };
  const { leadSeconds } = await broadcast.write(range, target, AbortSignal.timeout(60_000));
  const numbers = readAll(await readFile(target.path)).samples.map(({ data }) => data.readUInt32BE(0));
  expect(numbers).toEqual(numbers.map((_, index) => numbers[0]! + index));
  return [numbers[0]! / framesPerSecond + leadSeconds, (numbers.at(-1)! + 1) / framesPerSecond];
}

/** Segments that a busy machine packaged so much late. */
function datedSegments(lateSeconds: readonly number[]): Segment[] {
  const dates = new ProgramDateTimes();
  return lateSeconds.map((late, index) => {
    const at = index * segmentSeconds;
    const { date } = dates.dateOf(at * 1000, startedAtMs + (at + late) * 1000);
    return { date: (date - startedAtMs) / 1000, at };
  });
}

const drifting = datedSegments([0, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3]);

test('dates approach the arrival', () => {
  expect(drifting.slice(0, 5).map(({ date, at }) => date - at)).toEqual(
    [-0.25, -0.15, -0.05, 0, 0.001].map(lead => expect.closeTo(lead)),
  );
});

test.each([
  { start: 0, end: 8 },
  { start: 1, end: 4 },
  { start: 1.8, end: 5 },
  { start: 3.9, end: 7.9 },
  { start: 5, end: 9 },
])(
  'a clip from $start s to $end s has its full duration, from what viewers see at its start',
  async ({ start, end }) => {
    const shown = drifting.findLast(({ date }) => date <= start)!;
    const from = shown.at + start - shown.date;
    const [first, until] = await clipped(drifting, start, end);
    expect(Math.abs(first - from)).toBeLessThanOrEqual(1 / framesPerSecond);
    expect(Math.abs(until - from - (end - start))).toBeLessThanOrEqual(1 / framesPerSecond);
  },
);

test('a clip up to the newest media has its full duration', async () => {
  const newest = drifting.at(-1)!.date + segmentSeconds;
  const [from, until] = await clipped(drifting, newest - 13, newest);
  expect(until).toBe(drifting.length * segmentSeconds);
  expect(Math.abs(until - from - 13)).toBeLessThanOrEqual(1 / framesPerSecond);
});

test('the start is in the segment that shows it, behind the keyframe that decoders need', async () => {
  const segments = drifting.map((segment, index) => ({ ...segment, isIndependent: index % 3 === 0 }));
  const [from, until] = await clipped(segments, 4.95, 7.95);
  expect(Math.abs(from - 5)).toBeLessThanOrEqual(1 / framesPerSecond);
  expect(Math.abs(until - 8)).toBeLessThanOrEqual(1 / framesPerSecond);
});

test('lost time counts, with and without a still in the playlist', async () => {
  const before = drifting.slice(0, 3);
  const lost = before.at(-1)!.date + segmentSeconds;
  const still = { date: lost + 0.6, at: 6, listedAt: 6.6 };
  const [from, until] = await clipped([...before, still], 1, 7);
  expect(Math.abs(until - from - 6 + 0.6)).toBeLessThanOrEqual(1 / framesPerSecond);
  const unlisted = { date: lost + 4.5, at: 6 };
  expect((await clipped([...before, unlisted], 1, lost + 5))[1]).toBeCloseTo(6.5);
});

test('media that came faster than it is shown ends within a second of its dates', async () => {
  const ahead = datedSegments([0, -1.9, -3.8, -5.7, -5.7, -5.7]);
  const [from, until] = await clipped(ahead, 0, 5);
  expect(from).toBeCloseTo(0.25);
  const last = ahead.findLast(({ at }) => at < until)!;
  expect(Math.abs(last.date + until - last.at - 5)).toBeLessThan(1);
});
