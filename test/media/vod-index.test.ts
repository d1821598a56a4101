import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DataFolderStorage } from '../../src/storage/data-folder-storage.ts';
import { indexProgressive } from '../../src/vod/index/index-progressive.ts';
import type { OpenRendition } from '../../src/vod/index/rendition.ts';
import { RenditionReader } from '../../src/vod/index/rendition-reader.ts';
import { ffmpegPath, runToEnd } from '../support/ffmpeg.ts';
import { type FixtureName, fixture } from '../support/fixtures.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { decodeAudio, decodeVideo } from './decoded.ts';
import { serveRenditions } from './serve-renditions.ts';

const dataFolder = new DataFolderStorage('/');

/** Timestamps are rounded to ticks of the track, of which there are 8000 or more a second. */
const TICK_SECONDS = 0.0002;
/** Frames that a decoder is to be fed before the sound begins, at most. */
const PRIMING_SECONDS = 2 * (1024 / 8000);

/** Indexes `source` and opens what came of it, by the names that the test server knows. */
async function openIndexed(source: string, folder: string) {
  await mkdir(folder, { recursive: true });
  await symlink(source, join(folder, 'source'));
  const result = await indexProgressive(source, {
    folder,
    mediaName: 'source',
    signal: new AbortController().signal,
  });
  if (result.kind === 'refused') throw new Error(result.reason);
  const reader = new RenditionReader(dataFolder);
  const renditions = new Map<string, OpenRendition>();
  if (result.video !== undefined) renditions.set('240p', await reader.open(result.video.file));
  if (result.audio !== undefined) renditions.set('audio', await reader.open(result.audio.file));
  return { result, renditions };
}

/** The played video is the source's, frame by frame, with all times moved by the same amount: that amount. */
async function expectSameVideo(source: string, url: string): Promise<number> {
  const [expected, played] = [await decodeVideo(source), await decodeVideo(url)];
  expect(played.length).toBeGreaterThan(0);
  expect(played.map(({ hash }) => hash)).toEqual(expected.map(({ hash }) => hash));
  const shift = played[0]!.seconds - expected[0]!.seconds;
  for (const [index, { seconds }] of played.entries()) {
    expect(Math.abs(seconds - expected[index]!.seconds - shift)).toBeLessThan(TICK_SECONDS);
  }
  return shift;
}

/** The played sound is the source's, sample by sample, after what the decoder is fed before. */
async function expectSameAudio(source: string, url: string, bytesPerSecond: number): Promise<void> {
  const [expected, played] = [await decodeAudio(source), await decodeAudio(url)];
  const priming = played.length - expected.length;
  expect(priming).toBeGreaterThanOrEqual(0);
  expect(priming).toBeLessThanOrEqual(PRIMING_SECONDS * bytesPerSecond);
  expect(played.subarray(priming).equals(expected)).toBe(true);
}

describe('a file that is played as it is', () => {
  const whole: readonly FixtureName[] = [
    'h264-aac',
    'h264-aac-faststart',
    'vfr',
    'two-keyframes-irregular',
    'mono-8khz',
  ];
  test.each(whole)('gives every frame and every sound of %s, at its time', async name => {
    const source = await fixture(name);
    const { renditions, result } = await openIndexed(source, join(await testTempDir(), 'video'));
    await using served = await serveRenditions(renditions);

    expect(await expectSameVideo(source, served.url)).toBeCloseTo(10, 3);
    const { sampleRate = 0, channels = 0 } = result.kind === 'indexed' ? (result.audio ?? {}) : {};
    await expectSameAudio(source, served.url, sampleRate * channels * 2);
    const [video, audio] = [renditions.get('240p')!, renditions.get('audio')!];
    expect(Math.abs(video.startSeconds(0) - audio.startSeconds(0))).toBeLessThan(PRIMING_SECONDS);
  });

  test('needs no sound', async () => {
    const source = await fixture('h264-only');
    const { renditions } = await openIndexed(source, join(await testTempDir(), 'video'));
    await using served = await serveRenditions(renditions);
    expect(await expectSameVideo(source, served.url)).toBeCloseTo(10, 3);
  });

  test('needs no picture', async () => {
    const source = await fixture('audio-only');
    const { renditions } = await openIndexed(source, join(await testTempDir(), 'video'));
    await using served = await serveRenditions(renditions);
    await expectSameAudio(source, served.url, 48_000 * 2);
  });

  test('keeps the distance of picture and sound where the file begins late', async () => {
    const source = await fixture('edit-list');
    const { renditions, result } = await openIndexed(source, join(await testTempDir(), 'video'));
    await using served = await serveRenditions(renditions);
    // The first frame of the file, at 1 s, is the first presented instant.
    expect(await expectSameVideo(source, served.url)).toBeCloseTo(9, 2);
    expect(result).toMatchObject({ audioReason: expect.stringMatching(/begins 0\.4\d s after/) });
  });

  test('is served from QuickTime files too', async () => {
    const folder = await testTempDir();
    const source = join(folder, 'source.mov');
    await runToEnd(ffmpegPath, ['-v', 'error', '-i', await fixture('h264-aac'), '-c', 'copy', source]);
    const { renditions } = await openIndexed(source, join(folder, 'video'));
    await using served = await serveRenditions(renditions);
    expect(await expectSameVideo(source, served.url)).toBeCloseTo(10, 3);
    await expectSameAudio(source, served.url, 48_000 * 2);
  });

  test('shows its first frame from the beginning where the sound begins first', async () => {
    const folder = await testTempDir();
    const source = join(folder, 'late-picture.mp4');
    await runToEnd(ffmpegPath, [
      ...[
        '-v',
        'error',
        '-i',
        await fixture('h264-aac'),
        '-itsoffset',
        '0.7',
        '-i',
        await fixture('h264-only'),
      ],
      ...['-map', '0:a', '-map', '1:v', '-c', 'copy', source],
    ]);
    const { renditions } = await openIndexed(source, join(folder, 'video'));
    await using served = await serveRenditions(renditions);
    const [expected, played] = [await decodeVideo(source), await decodeVideo(served.url)];
    expect(played.map(({ hash }) => hash)).toEqual(expected.map(({ hash }) => hash));
    expect(played[0]!.seconds).toBeCloseTo(10, 3);
    for (const [index, { seconds }] of played.entries()) {
      if (index > 0) expect(seconds - expected[index]!.seconds).toBeCloseTo(10, 2);
    }
  });
});

describe('a file that cannot be played as it is', () => {
  const refused: readonly (readonly [FixtureName, RegExp])[] = [
    ['h264-aac-mkv', /moov/],
    ['h264-aac-ts', /moov/],
    ['fragmented-mp4', /fragments/],
    ['truncated', /moov/],
    ['truncated-faststart', /outside the file/],
    ['zero-duration', /fragments/],
    ['not-video', /moov/],
    ['hls-playlist', /moov/],
    ['audio-mp3', /moov/],
  ];
  test.each(refused)('is refused with a reason and leaves nothing: %s', async (name, reason) => {
    const folder = await testTempDir();
    const source = await fixture(name);
    const result = await indexProgressive(source, { folder, signal: new AbortController().signal });
    expect(result).toEqual({ kind: 'refused', reason: expect.stringMatching(reason) });
    const { readdir } = await import('node:fs/promises');
    expect(await readdir(folder)).toEqual([]);
  });

  test('has its picture left out where keyframes are too far apart, and keeps its sound', async () => {
    const folder = await testTempDir();
    const source = await fixture('h264-long-gop');
    const result = await indexProgressive(source, { folder, signal: new AbortController().signal });
    expect(result).toMatchObject({
      kind: 'indexed',
      audio: { kind: 'audio' },
      videoReason: 'its video has no keyframe for more than 10 s (from 0 s on)',
    });
  });

  test('has its sound left out where it is no AAC, and keeps its picture', async () => {
    const folder = await testTempDir();
    const source = await fixture('h264-mp3');
    const result = await indexProgressive(source, { folder, signal: new AbortController().signal });
    expect(result).toMatchObject({
      kind: 'indexed',
      video: { kind: 'video' },
      audioReason: 'its audio is mp4a.40.34',
    });
  });
});
