import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sandboxOverlay } from '../../src/ffmpeg/arguments/sandbox-watermark.ts';
import {
  type EncoderConfig,
  type EncoderInput,
  FfmpegLiveEncoder,
} from '../../src/live/transcode/live-encoder.ts';
import { compositionOffsetMs, describeVideoTag } from '../../src/media/flv/flv-tag.ts';
import { ffmpegBuilds, ffmpegPath, runToEnd } from '../support/ffmpeg.ts';
import { mediaOf } from '../support/media-samples.ts';
import { makeProcessOwner } from '../support/process-limits.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';

const picture = { width: 320, height: 180 };
const flvHeaderBytes = 13;
/** Times are rounded to milliseconds twice. */
const TOLERANCE_MS = 2;

let folder: string;
/**
 * Videos with frames out of order: as often as possible, and at no constant rate, where keyframes are shown now
 * sooner, now later.
 */
let even: EncoderInput[];
let uneven: EncoderInput[];
let enhanced: Readonly<Record<string, EncoderInput[]>>;
beforeAll(async () => {
  folder = await makeTempDir();
  even = await makeTags('even', []);
  enhanced = {
    HEVC: await makeTags(
      'hevc',
      [],
      ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'keyint=31:bframes=3'],
    ),
    AV1: await makeTags('av1', [], ['-c:v', 'libsvtav1', '-preset', '12', '-g', '31']),
  };
  uneven = await makeTags('uneven', ['-vf', "select='gt(mod(n,37),8)+not(mod(n,3))'", '-vsync', 'vfr']);
});
afterAll(() => removeDir(folder));

const h264 = [
  '-c:v',
  'libx264',
  '-preset',
  'ultrafast',
  '-g',
  '31',
  '-bf',
  '3',
  '-x264-params',
  'b-adapt=0:scenecut=0',
];

async function makeTags(
  name: string,
  filters: readonly string[],
  codec: readonly string[] = h264,
): Promise<EncoderInput[]> {
  const path = join(folder, `${name}.flv`);
  await runToEnd(ffmpegPath, [
    ...['-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=30', '-t', '6', ...filters],
    ...codec,
    ...['-f', 'flv', path],
  ]);
  const flv = await readFile(path);
  const tags: EncoderInput[] = [];
  let reorderMs = 0;
  for (let at = flvHeaderBytes; at < flv.length; at += flv.readUIntBE(at + 1, 3) + 15) {
    const atMs = flv.readUIntBE(at + 4, 3);
    const body = flv.subarray(at + 11, at + 11 + flv.readUIntBE(at + 1, 3));
    const role = flv[at] === 9 ? describeVideoTag(body)?.role : undefined;
    if (role === undefined || role === 'other') continue;
    if (role === 'keyframe') reorderMs = compositionOffsetMs(body);
    const shownMs = atMs + (role === 'config' ? 0 : compositionOffsetMs(body) - reorderMs);
    const media = mediaOf({ kind: 'video', timestampMs: atMs, body });
    tags.push({ role, atMs, shownMs, reorderMs: role === 'config' ? 0 : reorderMs, media });
  }
  return tags;
}

describe.each([...ffmpegBuilds, { name: 'newest', path: ffmpegPath }])(
  'an encoder that is the $name ffmpeg',
  ({ path }) => {
    async function encode(tags: readonly EncoderInput[], frameDivisor: number, fromMs?: number) {
      const first = tags.find(({ role }) => role === 'keyframe')!;
      const fromReorderMs = tags.findLast(
        tag => tag.role === 'keyframe' && tag.shownMs <= (fromMs ?? 0),
      )!.reorderMs;
      const rung = { name: 'source', ...picture, bitsPerSecond: 500_000, fromMs, fromReorderMs };
      const order: EncoderConfig = {
        ...picture,
        overlay: sandboxOverlay(picture),
        frameDivisor,
        first,
        renditions: [rung],
      };
      const samples: { readonly atMs: number; readonly shownMs: number; readonly isSync: boolean }[] = [];
      let timescale = 1;
      const { promise, resolve } = Promise.withResolvers<string | undefined>();
      const encoder = new FfmpegLiveEncoder({
        ffmpeg: { path },
        owner: makeProcessOwner(),
        config: order,
        threads: 1,
        maxPixels: 1e6,
        memoryBytes: 2 ** 30,
        niceness: 0,
        ids: {},
        events: {
          track: (_, track) => {
            timescale = track.timescale;
          },
          sample: (_, { isSync, compositionOffsetTicks }, atMs) =>
            samples.push({ atMs, shownMs: atMs + (compositionOffsetTicks * 1000) / timescale, isSync }),
          exited: resolve,
        },
      });
      for (const tag of tags) encoder.write(tag);
      encoder.finish();
      expect(await promise).toBeUndefined();
      return samples;
    }

    const keyframesOf = (tags: readonly EncoderInput[], fromMs = 0) =>
      tags.filter(({ role, atMs }) => role === 'keyframe' && atMs >= fromMs).map(({ atMs }) => atMs);
    const shownAt = (tags: readonly EncoderInput[]) =>
      tags
        .filter(({ role }) => role !== 'config')
        .map(({ shownMs, reorderMs }) => shownMs + reorderMs)
        .toSorted((one, other) => one - other);
    const expectNear = (found: readonly number[], expected: readonly number[]) => {
      expect(found).toHaveLength(expected.length);
      for (const [index, ms] of found.entries())
        expect(Math.abs(ms - expected[index]!)).toBeLessThanOrEqual(TOLERANCE_MS);
    };

    test('outputs every frame at its presentation time, and keyframes where the source has them', async () => {
      expect(new Set(uneven.map(({ reorderMs }) => reorderMs)).size).toBeGreaterThan(2);
      for (const tags of [even, uneven]) {
        const samples = await encode(tags, 1);
        expectNear(
          samples.map(({ shownMs }) => shownMs),
          shownAt(tags),
        );
        expectNear(
          samples.filter(({ isSync }) => isSync).map(({ atMs }) => atMs),
          keyframesOf(tags),
        );
      }
    });

    test.each(['HEVC', 'AV1'])('decodes %s', async name => {
      const tags = enhanced[name]!;
      const samples = await encode(tags, 1);
      expectNear(
        samples.map(({ shownMs }) => shownMs),
        shownAt(tags),
      );
    });

    test('that replaces a dead one continues with the next frame', async () => {
      const [, second, third] = keyframesOf(uneven);
      const fromMs = (second! + third!) / 2;
      const { reorderMs } = uneven.findLast(tag => tag.role === 'keyframe' && tag.atMs <= fromMs)!;
      const samples = await encode(uneven, 1, fromMs);
      const rest = shownAt(uneven).filter(ms => ms >= fromMs + reorderMs - 4);
      expectNear(
        samples.map(({ shownMs }) => shownMs),
        rest,
      );
    });

    test('at half the frame rate has half of the frames, all keyframes, and correct timestamps', async () => {
      for (const fromMs of [undefined, 2000]) {
        const samples = await encode(even, 2, fromMs);
        const times = shownAt(even);
        for (const { shownMs } of samples)
          expect(times.some(ms => Math.abs(ms - shownMs) <= TOLERANCE_MS)).toBe(true);
        // The first one of an encoder is always a keyframe.
        const keyframes = samples.filter(
          ({ isSync }, index) => isSync && (index > 0 || fromMs === undefined),
        );
        expectNear(
          keyframes.map(({ atMs }) => atMs),
          keyframesOf(even, fromMs),
        );
        const steps = samples.slice(1).map(({ shownMs }, index) => shownMs - samples[index]!.shownMs);
        expect(Math.max(...steps)).toBeLessThan(70);
        expect(samples.length / (times.length * (1 - (fromMs ?? 0) / 6000))).toBeCloseTo(0.5, 1);
      }
    });
  },
);
