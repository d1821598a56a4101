import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { encodeCommand } from '../../src/ffmpeg/arguments/encode-command.ts';
import { DataFolderStorage } from '../../src/storage/data-folder-storage.ts';
import { GrowingRendition, type GrowingRenditionOptions } from '../../src/vod/index/growing-rendition.ts';
import { indexProgressive } from '../../src/vod/index/index-progressive.ts';
import type { OpenRendition } from '../../src/vod/index/rendition.ts';
import { RenditionReader } from '../../src/vod/index/rendition-reader.ts';
import { boundariesOf, type SegmentBoundaries } from '../../src/vod/index/segment-boundaries.ts';
import { ffmpegBuilds, runToEnd } from '../support/ffmpeg.ts';
import { argumentsOf } from '../support/ffmpeg-command.ts';
import { type FixtureName, fixture } from '../support/fixtures.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { decodeAudio, decodeVideo } from './decoded.ts';
import { bytesOf, serveRenditions } from './serve-renditions.ts';

const dataFolder = new DataFolderStorage('/');

/** Half a frame of the fixtures' slowest encode, and more than a frame of sound. */
const ALIGNED_SECONDS = 0.022;

const rungs = [
  { name: '240p', width: 160, height: 90, bitsPerSecond: 100_000 },
  { name: '360p', width: 320, height: 180, bitsPerSecond: 200_000 },
];

/** Encodes a fixture to two rungs and sound; the folder with `240p.mp4`, `360p.mp4` and `audio.mp4`. */
async function encode(ffmpeg: string, name: FixtureName, keyframes?: readonly number[]): Promise<string> {
  const folder = await testTempDir();
  await runToEnd(ffmpeg, [
    ...['-v', 'error', '-nostdin'],
    ...argumentsOf(
      encodeCommand({
        source: await fixture(name),
        folder,
        video: {
          index: 0,
          width: 320,
          height: 180,
          isInterlaced: false,
          toneMapFrom: undefined,
          isTooFast: false,
          renditions: rungs,
          keyframesAtSeconds: keyframes ?? 'every-two',
          overlays: [],
        },
        audio: [{ name: 'audio', index: 1, channels: 2, isSurround: false, untilSeconds: undefined }],
        timedBy: [0, 1],
        clip: undefined,
        preset: 'ultrafast',
        threads: 2,
      }),
    ),
  ]);
  return folder;
}

/** One that is closed when the test ends. */
function follow(options: GrowingRenditionOptions): GrowingRendition {
  const rendition = new GrowingRendition(options);
  onTestFinished(() => rendition.close());
  return rendition;
}

/** Follows what {@link encode} made, to its end. */
async function followAll(folder: string, boundaries?: SegmentBoundaries) {
  const low = follow({ path: join(folder, '240p.mp4'), boundaries });
  const high = follow({ path: join(folder, '360p.mp4'), boundaries });
  const audio = follow({ path: join(folder, 'audio.mp4'), boundaries: boundaries ?? low.boundaries });
  const indexed = [await low.finish(), await high.finish(), await audio.finish()] as const;
  return { low, high, audio, indexed };
}

function startsOf(rendition: OpenRendition): number[] {
  return Array.from({ length: rendition.segmentCount }, (_, index) => rendition.startSeconds(index));
}

describe.each(ffmpegBuilds)('what the $name ffmpeg encodes', ({ path: ffmpeg }) => {
  test('is served with every frame and sound, at the times of the source', async () => {
    const folder = await encode(ffmpeg, 'h264-aac');
    const { low, high, audio } = await followAll(folder);
    await using served = await serveRenditions(
      new Map<string, OpenRendition>([
        ['360p', high],
        ['audio', audio],
      ]),
    );

    const [expected, played] = [await decodeVideo(join(folder, '360p.mp4')), await decodeVideo(served.url)];
    expect(played.map(({ hash }) => hash)).toEqual(expected.map(({ hash }) => hash));
    for (const [index, { seconds }] of played.entries()) expect(seconds).toBeCloseTo(10 + index / 30, 3);
    const sound = await decodeAudio(served.url);
    expect(sound.length).toBeGreaterThan(5.9 * 48_000 * 4);
    expect(audio.startSeconds(0)).toBeCloseTo(-1024 / 48_000, 6);
    expect(startsOf(low)).toEqual([0, 4]);
    expect(startsOf(high)).toEqual([0, 4]);
    for (const [index, start] of startsOf(audio).entries()) {
      expect(Math.abs(start - low.startSeconds(index))).toBeLessThan(ALIGNED_SECONDS);
    }
  });

  test('is cut where a source that is played as it is has its segments', async () => {
    const source = await fixture('two-keyframes-irregular');
    const result = await indexProgressive(source, {
      folder: await testTempDir(),
      signal: new AbortController().signal,
    });
    if (result.kind === 'refused' || result.video === undefined) throw new Error('is played as it is');
    const starts = result.video.segmentStartsSeconds;
    const folder = await encode(ffmpeg, 'two-keyframes-irregular', starts);
    const { low, high, audio } = await followAll(folder, boundariesOf(result.video));
    for (const rendition of [low, high, audio]) {
      expect(rendition.segmentCount).toBe(starts.length);
      for (const [index, start] of startsOf(rendition).entries()) {
        expect(Math.abs(start - starts[index]!)).toBeLessThan(ALIGNED_SECONDS);
      }
    }
  });

  test('keeps the sound in its place when that begins after the picture', async () => {
    const folder = await encode(ffmpeg, 'edit-list');
    const { low, audio } = await followAll(folder);
    expect(low.startSeconds(0)).toBeCloseTo(0, 3);
    // Silence was put in front.
    expect(audio.startSeconds(0)).toBeCloseTo(-1024 / 48_000, 3);
  });
});

describe('a file that grows', () => {
  test('shows only segments that are whole, and never changes one', async () => {
    const folder = await encode(ffmpegBuilds[0]!.path, 'h264-aac');
    const path = join(await testTempDir(), '240p.mp4');
    const growing = follow({ path, segmentSeconds: 2 });
    await growing.poll();
    expect(growing.segmentCount).toBe(0);

    const whole = await readFile(join(folder, '240p.mp4'));
    const seen: Buffer[] = [];
    for (let at = 0; at < whole.length; at += 1009) {
      await appendFile(path, whole.subarray(at, at + 1009));
      await growing.poll();
      while (seen.length < growing.segmentCount) {
        const { parts, bytes } = await growing.readSegment(seen.length);
        seen.push(await bytesOf(parts));
        expect(seen.at(-1)).toHaveLength(bytes);
        expect(growing.init.length).toBeGreaterThan(0);
        expect(growing.bitRates(2).peakBitsPerSecond).toBeGreaterThan(0);
      }
    }
    // The last one may go on until the file is known to be at its end.
    expect(seen).toHaveLength(2);

    const { file, segmentStartsSeconds, durationTicks, timescale } = await growing.finish();
    expect(segmentStartsSeconds).toEqual([0, 2, 4]);
    expect(durationTicks / timescale).toBeCloseTo(6, 3);
    const opened = await new RenditionReader(dataFolder).open(file);
    for (const rendition of [growing, opened]) {
      expect(rendition.segmentCount).toBe(3);
      for (const [index, bytes] of seen.entries()) {
        expect(await bytesOf((await rendition.readSegment(index)).parts)).toEqual(bytes);
      }
    }
    expect(opened.init).toEqual(growing.init);
    expect(opened.renditionMetadata).toEqual(growing.renditionMetadata);
  });

  test('gives its boundaries to the sound that grows beside it', async () => {
    const folder = await encode(ffmpegBuilds[0]!.path, 'h264-aac');
    const other = await testTempDir();
    const video = follow({ path: join(other, '240p.mp4'), segmentSeconds: 2 });
    const audio = follow({ path: join(other, 'audio.mp4'), boundaries: video.boundaries });
    const [picture, sound] = await Promise.all(
      ['240p.mp4', 'audio.mp4'].map(name => readFile(join(folder, name))),
    );
    // The sound is there at once, the picture comes bit by bit.
    await appendFile(join(other, 'audio.mp4'), sound!);
    const counts = new Set<string>();
    for (let at = 0; at < picture!.length; at += 4099) {
      await appendFile(join(other, '240p.mp4'), picture!.subarray(at, at + 4099));
      await video.poll();
      await audio.poll();
      counts.add(`${video.segmentCount} ${audio.segmentCount}`);
    }
    expect([...counts]).toEqual(['0 0', '1 1', '2 2']);
    await video.finish();
    await audio.finish();
    expect(audio.segmentCount).toBe(video.segmentCount);
  });

  test('is no rendition when it ends in the middle of a fragment', async () => {
    const folder = await encode(ffmpegBuilds[0]!.path, 'h264-aac');
    const whole = await readFile(join(folder, '240p.mp4'));
    const path = join(await testTempDir(), '240p.mp4');
    await appendFile(path, whole.subarray(0, whole.length - 500));
    const growing = follow({ path });
    await expect(growing.finish()).rejects.toMatchObject({ code: 'media-malformed' });
    await growing.close();
    await expect(new RenditionReader(dataFolder).open(`${path}.index`)).rejects.toMatchObject({
      code: 'server-error',
    });
  });
});
