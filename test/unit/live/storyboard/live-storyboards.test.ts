import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SheetMedia } from '../../../../src/ffmpeg/part-thumbnails.ts';
import { LiveStoryboards } from '../../../../src/live/storyboard/live-storyboards.ts';
import { writeFragment } from '../../../../src/media/cmaf/fragment-writer.ts';
import type { FileSlice } from '../../../../src/shared/files/file-slice.ts';
import { slotMs, slotsPerSheet } from '../../../../src/shared/limits/live-storyboard.ts';
import { silentLogger } from '../../../../src/shared/logger.ts';
import { videoTrack } from '../../../support/recording-sink.ts';
import { testTempDir } from '../../../support/temp-dir.ts';
import { readAll } from '../../media/cmaf/read-all.ts';

const segmentSeconds = 2;
/** More than the part of a file that is read at once. */
const keyframeBytes = 100_000;

/** A keyframe that says when it is shown, and a frame after it. */
function fragmentAt(dateMs: number, hasKeyframe = true): Buffer {
  const samples = [hasKeyframe, false].map(isSync => {
    const data = Buffer.alloc(isSync ? keyframeBytes : 8);
    data.writeDoubleBE(dateMs);
    return { durationTicks: videoTrack.timescale, compositionOffsetTicks: 0, isSync, data };
  });
  return writeFragment(1, [{ trackId: videoTrack.id, baseDtsTicks: 0, samples }]);
}

type Parts = readonly (Buffer | FileSlice)[];

/** The window of a broadcast that began with a sheet, and storyboards that are made when the test says so. */
function storyboardsOf(partsAt: (dateMs: number) => Parts = dateMs => [fragmentAt(dateMs)]) {
  const sheet = 1000;
  const startMs = sheet * slotsPerSheet * slotMs;
  const window = { fromSeconds: 0, untilSeconds: 0, isPlayable: true };
  const runs: { readonly media: SheetMedia; finish(image: Buffer | undefined): void }[] = [];
  const storyboards = new LiveStoryboards({
    mediaOf: () => {
      if (!window.isPlayable) return undefined;
      const count = Math.floor((window.untilSeconds - window.fromSeconds) / segmentSeconds);
      return {
        renditions: [[videoTrack]],
        segments: Array.from({ length: count }, (_, index) => {
          const dateMs = startMs + (window.fromSeconds + index * segmentSeconds) * 1000;
          return {
            dateMs,
            offsetSeconds: index * segmentSeconds,
            durationSeconds: segmentSeconds,
            isIndependent: true,
            parts: () => partsAt(dateMs),
          };
        }),
      };
    },
    isPlayable: () => window.isPlayable,
    makeSheet: media => {
      const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
      runs.push({ media, finish: resolve });
      return promise;
    },
    open: path => open(path),
    log: silentLogger,
  });
  const ask = (number: number, slots: number, broadcastId = 'br1') =>
    storyboards.sheet('li1', broadcastId, number, slots);
  const run = async (at: number) => {
    await expect.poll(() => runs.length).toBe(at + 1);
    return runs[at]!;
  };
  return { sheet, startMs, window, runs, run, ask, storyboards };
}

/** Seconds since the start of the sheet at which the frames of the slots are shown, by the second in the media. */
function framesIn({ media }: SheetMedia, startMs: number): [slot: number, seconds: number][] {
  const { samples } = readAll(Buffer.concat([...media]));
  return samples.map(({ dtsTicks, data }) => [
    dtsTicks / videoTrack.timescale,
    (data.readDoubleBE(0) - startMs) / 1000,
  ]);
}

test('a sheet has the keyframe that is shown in the middle of each slot that has passed', async () => {
  const { sheet, startMs, window, run, ask } = storyboardsOf();
  window.untilSeconds = 16;
  const asked = ask(sheet, 2);
  const { media, finish } = await run(0);
  expect(framesIn(media, startMs)).toEqual([
    [0, 2],
    [1, 6],
    [2, 12],
  ]);
  expect(media.size).toEqual({ width: videoTrack.width, height: videoTrack.height });
  finish(Buffer.from('jpeg'));
  expect((await asked)?.body.toString()).toBe('jpeg');
});

test('a sheet is made once, and again when another slot has passed and is asked for', async () => {
  const { sheet, window, runs, run, ask } = storyboardsOf();
  window.untilSeconds = 10;
  expect(await ask(sheet, 3)).toBeUndefined();
  expect(await ask(sheet + 1, 1)).toBeUndefined();
  expect(runs).toHaveLength(0);
  const both = Promise.all([ask(sheet, 1), ask(sheet, 2)]);
  (await run(0)).finish(Buffer.from('first'));
  expect((await both).map(image => image?.body.toString())).toEqual(['first', 'first']);
  window.untilSeconds = 16;
  expect((await ask(sheet, 2))?.body.toString()).toBe('first');
  const third = ask(sheet, 3);
  (await run(1)).finish(Buffer.from('second'));
  expect((await third)?.body.toString()).toBe('second');
  expect((await ask(sheet, 1))?.body.toString()).toBe('second');
});

test('one sheet is made at a time, and a failed one is not made again at once', async () => {
  const { sheet, window, runs, run, ask } = storyboardsOf();
  window.untilSeconds = 220;
  const first = ask(sheet, slotsPerSheet);
  const second = ask(sheet + 1, slotsPerSheet);
  const { finish } = await run(0);
  await new Promise(setImmediate);
  expect(runs).toHaveLength(1);
  finish(undefined);
  expect(await first).toBeUndefined();
  (await run(1)).finish(Buffer.from('second'));
  expect((await second)?.body.toString()).toBe('second');
  expect(await ask(sheet, slotsPerSheet)).toBeUndefined();
  expect(runs).toHaveLength(2);
});

test('broadcasts take turns, and requests for what is not there take no place', async () => {
  const { sheet, window, run, ask } = storyboardsOf();
  window.untilSeconds = 3200;
  const first = ask(sheet, 1);
  const { finish } = await run(0);
  const missing = Array.from({ length: 100 }, (_, index) => ask(sheet + 1000 + index, 1));
  const crowd = Array.from({ length: 30 }, (_, index) => ask(sheet + 1 + index, 1));
  const other = ask(sheet, 1, 'br2');
  expect(await Promise.all(missing)).toEqual(missing.map(() => undefined));
  expect(await Promise.all(crowd.slice(20))).toEqual(crowd.slice(20).map(() => undefined));
  finish(Buffer.from('first'));
  (await run(1)).finish(Buffer.from('second'));
  (await run(2)).finish(Buffer.from('other'));
  expect((await first)?.body.toString()).toBe('first');
  expect((await crowd[0])?.body.toString()).toBe('second');
  expect((await other)?.body.toString()).toBe('other');
});

test('slots that the window has lost show the first frame that is left, or nothing', async () => {
  const { sheet, startMs, window, run, ask } = storyboardsOf();
  Object.assign(window, { fromSeconds: 104, untilSeconds: 120 });
  expect(await ask(sheet, 1)).toBeUndefined();
  const asked = ask(sheet + 1, 2);
  const { media, finish } = await run(0);
  expect(framesIn(media, startMs)).toEqual([
    [0, 104],
    [1, 106],
    [2, 112],
    [3, 116],
  ]);
  finish(Buffer.from('jpeg'));
  expect(await asked).toBeDefined();
  window.isPlayable = false;
  expect(await ask(sheet + 2, 1)).toBeUndefined();
});

test('keyframes are read from files, and segments that are gone, damaged or have none are left out', async () => {
  const folder = await testTempDir();
  const path = join(folder, 'media');
  const lead = Buffer.alloc(77);
  const stored = fragmentAt(42);
  await writeFile(path, Buffer.concat([lead, stored, fragmentAt(43)]));
  const { sheet, startMs, window, run, ask } = storyboardsOf(dateMs => {
    const seconds = (dateMs - startMs) / 1000;
    if (seconds === 2) return [{ path, start: lead.length, length: 2 * stored.length }];
    if (seconds === 6) return [{ path: join(folder, 'gone'), start: 0, length: 10 }];
    if (seconds === 12) return [fragmentAt(dateMs, false)];
    const fragment = fragmentAt(dateMs);
    if (seconds === 22) fragment.write('free', fragment.indexOf('tfdt'));
    return [fragment];
  });
  window.untilSeconds = 30;
  const asked = ask(sheet, 6);
  const { media, finish } = await run(0);
  expect(framesIn(media, 0)).toEqual([
    [0, 0.042],
    [3, (startMs + 16_000) / 1000],
    [5, (startMs + 26_000) / 1000],
  ]);
  finish(Buffer.from('jpeg'));
  expect(await asked).toBeDefined();
});
