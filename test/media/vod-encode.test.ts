import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { encodeCommand } from '../../src/ffmpeg/arguments/encode-command.ts';
import type { EncodeOptions, Overlay } from '../../src/ffmpeg/arguments/encode-options.ts';
import { mp4Command, remuxCommand } from '../../src/ffmpeg/arguments/remux-commands.ts';
import type { BuildCommand } from '../../src/ffmpeg/media-tools.ts';
import { placeWatermark } from '../../src/shared/limits/watermark-placement.ts';
import { ladderOf } from '../../src/vod/encode/ladder.ts';
import { planSource } from '../../src/vod/source/source-plan.ts';
import type { SourceRequest } from '../../src/vod/source/source-request.ts';
import { embeddedFfprobePath, ffmpegPath, runToEnd } from '../support/ffmpeg.ts';
import { argumentsOf } from '../support/ffmpeg-command.ts';
import { type FixtureName, fixture } from '../support/fixtures.ts';
import { makeMediaTools, type ToolBuilds, toolBuilds } from '../support/media-tools.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { decodeAudio, decodeVideo } from './decoded.ts';

type Video = NonNullable<EncodeOptions['video']>;

/** Tolerance of edit lists, whose times are whole milliseconds; the fixtures' own are no finer in Matroska. */
const TIME_TOLERANCE_SECONDS = 0.0015;
const ORIGIN_SECONDS = 10;
const never = new AbortController().signal;

interface Changes {
  readonly wishes?: SourceRequest;
  readonly video?: Partial<Video>;
  readonly overlays?: readonly Overlay[];
}

/** Encodes a file to what its ladder says, as the server does; the folder, and names of its rungs. */
async function encode(builds: ToolBuilds, source: string, { wishes = {}, video, overlays }: Changes = {}) {
  const folder = await testTempDir();
  const probed = await makeMediaTools(builds).probe(source, never);
  const plan = planSource(probed, wishes);
  if (plan.kind === 'refused') throw new Error(plan.reason);
  const rungs = plan.video === undefined ? [] : ladderOf(plan.video.displayResolution);
  const command = encodeCommand({
    source,
    folder,
    video:
      plan.video === undefined
        ? undefined
        : {
            ...plan.video,
            ...plan.video.displayResolution,
            renditions: rungs,
            keyframesAtSeconds: 'every-two',
            overlays: overlays ?? [],
            ...video,
          },
    audio: plan.audio === undefined ? [] : [plan.audio],
    timedBy: [plan.video?.index, plan.audio?.index].filter(index => index !== undefined),
    clip: plan.part,
    preset: 'ultrafast',
    threads: 2,
  });
  await run(builds, command);
  const names = (video?.renditions ?? rungs).map(({ name }) => name);
  return {
    names,
    top: join(folder, `${names.at(-1)}.mp4`),
    audio: join(folder, 'audio.mp4'),
    file: (name: string) => join(folder, `${name}.mp4`),
  };
}

function run({ ffmpeg }: ToolBuilds, command: BuildCommand): Promise<string> {
  return runToEnd(ffmpeg.path, ['-hide_banner', '-nostdin', '-loglevel', 'error', ...argumentsOf(command)]);
}

/** Makes a source of the test's own. */
async function make(name: string, args: readonly string[]): Promise<string> {
  const path = join(await testTempDir(), name);
  await runToEnd(ffmpegPath, ['-hide_banner', '-nostdin', '-loglevel', 'error', '-y', ...args, path]);
  return path;
}

async function streamOf(path: string): Promise<Record<string, unknown>> {
  const text = await runToEnd(embeddedFfprobePath, ['-v', 'error', '-show_streams', '-of', 'json', path]);
  return (JSON.parse(text) as { streams: Record<string, unknown>[] }).streams[0]!;
}

/** Seconds since the source's first presented instant at which frames are shown, all of them or keyframes alone. */
async function shownAt(path: string, which: 'all' | 'keyframes' = 'all'): Promise<number[]> {
  const text = await runToEnd(embeddedFfprobePath, [
    ...['-v', 'error', '-select_streams', 'v:0', '-show_entries', 'packet=pts_time,flags', '-of', 'csv=p=0'],
    path,
  ]);
  return text
    .split('\n')
    .filter(line => line !== '' && (which === 'all' || line.split(',')[1]?.startsWith('K')))
    .map(line => Number(line.split(',')[0]) - ORIGIN_SECONDS)
    .sort((a, b) => a - b);
}

function expectTimes(found: readonly number[], expected: readonly number[]): void {
  expect(found).toHaveLength(expected.length);
  for (const [index, seconds] of found.entries()) {
    expect(Math.abs(seconds - expected[index]!)).toBeLessThan(TIME_TOLERANCE_SECONDS);
  }
}

/** The frame of an instant as a player shows it: gives red, green and blue, 0..255, of its pixels. */
async function pictureOf(
  path: string,
  width: number,
  atSeconds = 0,
): Promise<(x: number, y: number) => readonly number[]> {
  const { stdout } = await promisify(execFile)(
    ffmpegPath,
    [
      ...['-hide_banner', '-nostdin', '-loglevel', 'error', '-i', path, '-ss', String(atSeconds)],
      ...['-frames:v', '1'],
      ...['-pix_fmt', 'rgb24', '-f', 'rawvideo', '-'],
    ],
    { encoding: 'buffer', maxBuffer: 16 * 1024 * 1024 },
  );
  return (x, y) => [...stdout.subarray((y * width + x) * 3, (y * width + x) * 3 + 3)];
}

/** Time at which the first channel is first heard, in seconds since the first presented instant. */
async function heardAt(path: string): Promise<number> {
  const samples = await decodeAudio(path);
  for (let index = 0; index * 4 + 2 <= samples.length; index += 1) {
    if (Math.abs(samples.readInt16LE(index * 4)) > 500) return index / 48_000;
  }
  return Number.NaN;
}

describe.each(toolBuilds)('what the $name ffmpeg makes of a source', builds => {
  test.each<[FixtureName, string, Record<string, unknown>]>([
    ['rotated', '180x320', {}],
    ['portrait', '180x320', {}],
    ['odd-size', '320x180', {}],
    ['anamorphic', '426x180', {}],
    ['interlaced', '320x180', { field_order: 'progressive' }],
    ['one-pixel', '2x2', {}],
    ['single-frame', '320x180', {}],
    ['hdr', '320x180', { color_transfer: 'bt709', color_primaries: 'bt709', color_space: 'bt709' }],
  ])('%s: upright, progressive, with square pixels, not larger', async (name, size, values) => {
    const { names, top } = await encode(builds, await fixture(name));
    expect(names).toEqual(['240p']);
    const stream = await streamOf(top);
    expect(`${stream.width}x${stream.height}`).toBe(size);
    expect(['1:1', undefined]).toContain(stream.sample_aspect_ratio);
    expect(stream).toMatchObject({ codec_name: 'h264', pix_fmt: 'yuv420p', color_range: 'tv', ...values });
    expect(stream.side_data_list).toBeUndefined();
  });

  test('frames are shown when they are in the source, however they come', async () => {
    const source = await fixture('vfr');
    const expected = (await decodeVideo(source)).map(({ seconds }) => seconds);
    expectTimes(await shownAt((await encode(builds, source)).top), expected);
  });

  test('no second has more than sixty frames', async () => {
    const times = await shownAt((await encode(builds, await fixture('high-rate'))).top);
    expect(times.length).toBeGreaterThanOrEqual(178);
    expect(times.length).toBeLessThanOrEqual(181);
  });

  test('all rungs have keyframes at the same instants, those that were asked for', async () => {
    const source = await fixture('two-keyframes-irregular');
    const rungs = [
      { name: '90p', width: 160, height: 90, bitsPerSecond: 100_000 },
      { name: '180p', width: 320, height: 180, bitsPerSecond: 300_000 },
    ];
    const keyframesAtSeconds = [0, 3.5, 4.3, 6.5];
    const { file } = await encode(builds, source, { video: { renditions: rungs, keyframesAtSeconds } });
    for (const { name } of rungs) expectTimes(await shownAt(file(name), 'keyframes'), keyframesAtSeconds);
  });

  test('a time without frames is followed by one keyframe', async () => {
    const source = await make('gap.mkv', [
      ...['-f', 'lavfi', '-i', 'testsrc2=size=160x90:rate=20:duration=14'],
      ...['-vf', `select='not(between(t,1.01,9.99))'`, '-vsync', 'vfr', '-c:v', 'mpeg4'],
    ]);
    expectTimes(await shownAt((await encode(builds, source)).top, 'keyframes'), [0, 10, 12]);
  });

  test('sound is stereo at 48 kHz, and silent where it begins late', async () => {
    const surround = await encode(builds, await fixture('surround'));
    expect(await streamOf(surround.audio)).toMatchObject({
      channels: 2,
      sample_rate: '48000',
      codec_name: 'aac',
    });
    const late = await encode(builds, await fixture('edit-list'));
    const heard = await heardAt(late.audio);
    expect(heard).toBeGreaterThan(0.47);
    expect(heard).toBeLessThan(0.53);
    expectTimes((await shownAt(late.top)).slice(0, 1), [0]);
  });

  test('a picture that begins late comes as much later as in the source', async () => {
    const source = await make('late.mkv', [
      ...['-itsoffset', '0.7', '-f', 'lavfi', '-i', 'testsrc2=size=160x90:rate=20:duration=2'],
      ...['-f', 'lavfi', '-i', 'sine=sample_rate=48000:duration=3', '-c:v', 'mpeg4', '-c:a', 'pcm_s16le'],
    ]);
    const { top, audio } = await encode(builds, source);
    expectTimes((await shownAt(top)).slice(0, 2), [0.7, 0.75]);
    expect(await heardAt(audio)).toBeLessThan(0.03);
  });

  test('sound with many channels of no known places becomes stereo', async () => {
    const source = await make('many.mkv', [
      ...['-f', 'lavfi', '-i', 'aevalsrc=0.2|0.2|0.2|0.2|0.2|0.2|0.2|0.2|0.2|0.2:duration=1'],
      ...['-c:a', 'pcm_s16le'],
    ]);
    const { audio } = await encode(builds, source);
    expect(await streamOf(audio)).toMatchObject({ channels: 2 });
  });

  test('colours are the same, whether they were red, green and blue or luma', async () => {
    for (const [name, args] of [
      ['rgb.mkv', ['-c:v', 'ffv1', '-pix_fmt', 'bgr0']],
      ['full.mkv', ['-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p', '-q:v', '1']],
      ['limited.mkv', ['-c:v', 'ffv1', '-pix_fmt', 'yuv420p']],
    ] as const) {
      const source = await make(name, [
        ...['-f', 'lavfi', '-i', 'color=c=0xd02040:size=64x64:rate=10:duration=0.5'],
        ...args,
      ]);
      const pixel = (await pictureOf((await encode(builds, source)).top, 64))(32, 32);
      for (const [index, value] of [0xd0, 0x20, 0x40].entries()) {
        expect(Math.abs(pixel[index]! - value), `${name} ${pixel}`).toBeLessThan(8);
      }
    }
  });

  test('a watermark stands where it was placed in every rung', async () => {
    const mark = await make('watermark.png', [
      '-f',
      'lavfi',
      '-i',
      'color=c=white:size=40x20',
      '-frames:v',
      '1',
    ]);
    const source = await make('blue.mkv', [
      ...['-f', 'lavfi', '-i', 'color=c=0x102030:size=640x360:rate=10:duration=0.5', '-c:v', 'ffv1'],
    ]);
    const placed = placeWatermark(
      { right: '20px', bottom: '10%' },
      { width: 40, height: 20 },
      { width: 640, height: 360 },
    );
    const overlays = [{ path: mark, ...placed, opacity: 0.5 }];
    const { file } = await encode(builds, source, { wishes: { hasWatermark: true }, overlays });
    for (const { name, width, height } of ladderOf({ width: 640, height: 360 })) {
      const pixel = await pictureOf(file(name), width);
      const at = (x: number, y: number) =>
        pixel(Math.round((x * width) / 640), Math.round((y * height) / 360));
      const [red = 0] = at(placed.x + 20, placed.y + 10);
      expect(red).toBeGreaterThan(0x75);
      expect(red).toBeLessThan(0x9a);
      for (const [x, y] of [
        [placed.x - 10, placed.y],
        [placed.x + 20, placed.y - 10],
        [placed.x + 54, placed.y + 10],
      ] as const) {
        expect(at(x, y)[0]).toBeLessThan(0x20);
      }
    }
  });

  test('a watermark stays where the picture changes its size or format', async () => {
    const parts: Buffer[] = [];
    for (const [size, format] of [
      ['320x180', 'yuv420p'],
      ['400x226', 'yuv420p'],
      ['320x180', 'yuv444p'],
    ] as const) {
      const input = ['-f', 'lavfi', '-i', `color=black:size=${size}:rate=10`, '-frames:v', '5'];
      const codec = [
        '-c:v',
        'libx264',
        '-bf',
        '0',
        '-pix_fmt',
        format,
        '-output_ts_offset',
        String(parts.length / 2),
      ];
      parts.push(await readFile(await make('part.ts', [...input, ...codec])));
    }
    const source = join(await testTempDir(), 'changing.ts');
    await writeFile(source, Buffer.concat(parts));
    const mark = await make('mark.png', ['-f', 'lavfi', '-i', 'color=white:size=40x40', '-frames:v', '1']);
    const overlays = [{ path: mark, x: 20, y: 10, width: 40, height: 40, opacity: 1 }];
    const { top } = await encode(builds, source, { wishes: { hasWatermark: true }, overlays });
    expect(await shownAt(top)).toHaveLength(15);
    for (const atSeconds of [0.1, 0.7, 1.2]) {
      const [red] = (await pictureOf(top, 320, atSeconds))(40, 30);
      expect(red, `at ${atSeconds} s`).toBeGreaterThan(0xc0);
    }
  });

  test.each<[FixtureName]>([['h264-aac'], ['h264-aac-ts'], ['h264-aac-mkv']])(
    'a clip of %s begins with the frame that it was asked for',
    async name => {
      const wishes = { clip: { startMs: 2500, endMs: 4000 } };
      const { top, audio } = await encode(builds, await fixture(name), { wishes });
      const times = await shownAt(top);
      expect(times.length).toBeGreaterThanOrEqual(44);
      expect(times.length).toBeLessThanOrEqual(46);
      expect(times[0]).toBeLessThan(0.034);
      const seconds = (await decodeAudio(audio)).length / 4 / 48_000;
      expect(Math.abs(seconds - 1.5)).toBeLessThan(0.05);
    },
  );

  test('the mp4 of renditions begins at zero and keeps the sound in its place', async () => {
    const { top, audio } = await encode(builds, await fixture('edit-list'));
    const output = join(await testTempDir(), 'source.mp4');
    const input = { index: 0, startSeconds: ORIGIN_SECONDS };
    await run(
      builds,
      mp4Command({ video: { path: top, ...input }, audio: [{ path: audio, ...input }], output }),
    );
    const [first] = await decodeVideo(output);
    expect(Math.abs(first!.seconds)).toBeLessThan(TIME_TOLERANCE_SECONDS);
    const heard = await heardAt(output);
    expect(heard).toBeGreaterThan(0.47);
    expect(heard).toBeLessThan(0.53);
  });

  test.each<[FixtureName]>([['h264-aac-ts'], ['h264-aac-mkv'], ['h264-aac-flv']])(
    '%s becomes an MP4 with every frame',
    async name => {
      const source = await fixture(name);
      const output = join(await testTempDir(), 'remuxed.mp4');
      await run(
        builds,
        remuxCommand({ source, videoIndex: 0, audio: [{ index: 1 }], timedBy: [0, 1], output }),
      );
      const hashes = async (path: string) => (await decodeVideo(path)).map(({ hash }) => hash);
      expect(await hashes(output)).toEqual(await hashes(source));
    },
  );

  test('a playlist is not opened, nor is an image that is none', async () => {
    const playlist = await fixture('hls-playlist');
    const order: EncodeOptions = {
      source: playlist,
      folder: await testTempDir(),
      video: undefined,
      timedBy: [0],
      audio: [{ name: 'audio', index: 0, channels: 2, isSurround: false, untilSeconds: undefined }],
      clip: undefined,
      preset: 'ultrafast',
      threads: 1,
    };
    await expect(run(builds, encodeCommand(order))).rejects.toThrow(/whitelist/i);
    const overlay = { path: playlist, x: 0, y: 0, width: 10, height: 10, opacity: 1 };
    const encoding = encode(builds, await fixture('h264-only'), { overlays: [overlay] });
    await expect(encoding).rejects.toThrow(/whitelist/i);
  });
});
