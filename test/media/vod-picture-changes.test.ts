import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readProgressiveMovie } from '../../src/media/cmaf/progressive-file.ts';
import { SampleCursor } from '../../src/media/cmaf/sample-cursor.ts';
import { parseMultivariantPlaylist } from '../../src/media/hls/multivariant-playlist.ts';
import { ffmpegPath, runToEnd } from '../support/ffmpeg.ts';
import { type MadeSample, makeMovie } from '../support/progressive-movie.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { VideoServer } from './vod-server-fixture.ts';

/** Length of each half. */
const seconds = 3;
const framesPerSecond = 25;
interface Size {
  readonly width: number;
  readonly height: number;
}

/** The scaler blurs the edges of the square. */
const roundingPixels = 4;

let folder: string;
let server: VideoServer;

beforeAll(async () => {
  folder = await makeTempDir();
  server = await VideoServer.start(join(folder, 'data'), { MILLRACE_ENCODE_PRESET: 'ultrafast' });
  server.leaveOutImages();
});
afterAll(async () => {
  await server.stop();
  await removeDir(folder);
});

const ffmpeg = (...args: readonly string[]) => runToEnd(ffmpegPath, ['-y', '-loglevel', 'error', ...args]);

const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '25', '-bf', '0', '-pix_fmt', 'yuv420p'];
const hevc = [
  '-c:v',
  'libx265',
  '-preset',
  'ultrafast',
  '-x265-params',
  'log-level=error:keyint=25:bframes=0',
];

/** A white square on gray. With pixels of another shape, it is drawn so that it is shown as a square. */
async function half(
  name: string,
  size: string,
  codec: readonly string[],
  pixelAspect = '1',
): Promise<string> {
  const path = join(folder, name);
  const square = `drawbox=x=iw/2-40/(${pixelAspect}):y=ih/2-40:w=80/(${pixelAspect}):h=80:c=white:t=fill`;
  await ffmpeg(
    ...['-f', 'lavfi', '-i', `color=gray:s=${size}:r=${framesPerSecond}:d=${seconds},${square}`],
    ...['-vf', `setsar=${pixelAspect}`, ...codec, path],
  );
  return path;
}

/** One stream whose second half has other parameter sets, which are in the stream only. */
async function joined(name: string, halves: readonly string[], ...args: readonly string[]): Promise<Buffer> {
  const stream = join(folder, `joined-${name}.${halves[0]!.split('.').at(-1)}`);
  await writeFile(stream, Buffer.concat(await Promise.all(halves.map(path => readFile(path)))));
  if (args.length === 0) return readFile(stream);
  const path = join(folder, name);
  await ffmpeg('-r', String(framesPerSecond), '-i', stream, '-c', 'copy', ...args, path);
  return readFile(path);
}

/** The tags of two files. The second half has a configuration tag of its own, and no parameter sets inside of frames. */
async function flv(halves: readonly string[]): Promise<Buffer> {
  const files = [];
  for (const [index, path] of halves.entries()) {
    const output = `${path}.flv`;
    await ffmpeg(
      ...['-r', String(framesPerSecond), '-i', path, '-c', 'copy', '-bsf:v', 'filter_units=remove_types=7-8'],
      ...['-output_ts_offset', String(index * seconds), '-f', 'flv', output],
    );
    files.push(await readFile(output));
  }
  return Buffer.concat([files[0]!, files[1]!.subarray(13)]);
}

async function upload(bytes: Buffer) {
  const { videoId } = await server.create({ mp4Support: false });
  expect(await server.send(videoId, bytes)).toBe(201);
  await server.untilDone(videoId);
  const isPassedThrough = server
    .read<{ file: string }>("SELECT file FROM renditions WHERE video_id = ? AND type = 'hls'", videoId)
    .some(({ file }) => file.endsWith('/video.index'));
  const base = `/vod/${videoId}/hls/`;
  const { variants, media } = parseMultivariantPlaylist(String(await server.text(`${base}manifest.m3u8`)));
  return {
    videoId,
    isPassedThrough,
    variants: variants.map(({ uri, width, height }) => ({
      url: server.process.baseUrl + base + uri,
      width: width!,
      height: height!,
    })),
    audio: media.map(({ uri }) => server.process.baseUrl + base + uri),
  };
}

/** Decodes what a playlist lists, and measures the white square of each frame. */
async function squaresOf({ url, width, height }: Size & { readonly url: string }): Promise<Size[]> {
  const raw = join(folder, 'decoded.gray');
  const gray = ['-map', '0:v:0', '-pix_fmt', 'gray', '-f', 'rawvideo', raw];
  await ffmpeg('-nostdin', '-i', url, '-s', `${width}x${height}`, '-vsync', 'passthrough', ...gray);
  const pixels = await readFile(raw);
  const isWhite = (at: number) => (pixels[at] ?? 0) > 190;
  const count = (length: number, from: number, step: number) =>
    Array.from({ length }, (_, index) => from + index * step).filter(isWhite).length;
  return Array.from({ length: pixels.length / (width * height) }, (_, frame) => {
    const start = frame * width * height;
    return {
      width: count(width, start + Math.floor(height / 2) * width, 1),
      height: count(height, start + Math.floor(width / 2), width),
    };
  });
}

describe('the pictures of an upload change', () => {
  let halves: Record<string, string>;
  beforeAll(async () => {
    halves = {
      wide: await half('wide.h264', '320x180', h264),
      tall: await half('tall.h264', '180x320', h264),
      narrow: await half('narrow.h264', '320x180', h264, '3/4'),
      main: await half('main.h264', '320x180', [...h264, '-preset', 'veryfast', '-profile:v', 'main']),
      wideHevc: await half('wide.hevc', '320x180', hevc),
      tallHevc: await half('tall.hevc', '180x320', hevc),
    };
  });
  const of = (...names: readonly string[]) => names.map(name => halves[name]!);

  const files: Record<string, () => Promise<Buffer>> = {
    'MP4, avc1': () => joined('avc1.mp4', of('wide', 'tall'), '-tag:v', 'avc1'),
    'MP4, avc3': () => joined('avc3.mp4', of('wide', 'tall'), '-tag:v', 'avc3'),
    'MP4, hvc1': () => joined('hvc1.mp4', of('wideHevc', 'tallHevc'), '-tag:v', 'hvc1'),
    'MP4, hev1': () => joined('hev1.mp4', of('wideHevc', 'tallHevc'), '-tag:v', 'hev1'),
    'fragmented MP4': () => joined('f.mp4', of('wide', 'tall'), '-movflags', 'frag_keyframe+empty_moov'),
    MOV: () => joined('avc1.mov', of('wide', 'tall')),
    'MPEG-TS': () => joined('a.ts', of('wide', 'tall')),
    MKV: () => joined('a.mkv', of('tall', 'wide')),
    'H.264 without a container': () => joined('a', of('wide', 'tall')),
    'FLV, by a second configuration tag': () => flv(of('wide', 'tall')),
  };
  for (const [name, make] of Object.entries(files)) {
    test(`${name}: a square stays square`, async () => {
      const { isPassedThrough, variants } = await upload(await make());
      expect(isPassedThrough).toBe(false);
      expect(variants).not.toEqual([]);
      for (const variant of variants) {
        const squares = await squaresOf(variant);
        expect(squares).toHaveLength(2 * seconds * framesPerSecond);
        for (const { width, height } of squares) {
          expect(width).toBeGreaterThan(30);
          expect(Math.abs(width - height)).toBeLessThanOrEqual(roundingPixels);
        }
      }
    });
  }

  test('the storyboard shows each moment in its shape', async () => {
    server.leaveOutImages(false);
    onTestFinished(() => server.leaveOutImages());
    const { videoId } = await upload(await joined('storyboard.mp4', of('wide', 'tall')));
    const base = `${server.process.baseUrl}/vod/${videoId}`;
    const [raw, image] = [join(folder, 'tiles.gray'), join(folder, 'storyboard.jpg')];
    await writeFile(image, Buffer.from(await (await fetch(`${base}/storyboard.jpg`)).arrayBuffer()));
    await ffmpeg('-i', image, '-pix_fmt', 'gray', '-f', 'rawvideo', raw);
    const pixels = await readFile(raw);
    const [tileWidth, tileHeight] = [160, 90];
    const rowBytes = pixels.length / tileHeight;
    const shown = Array.from({ length: 2 * seconds }, (_, tile) => {
      const row = (tileHeight / 2) * rowBytes + tile * tileWidth;
      return Array.from(pixels.subarray(row, row + tileWidth)).filter(luma => luma > 40).length;
    });
    // Upright pictures have black on both sides.
    const uprightWidth = tileHeight * (180 / 320);
    for (const width of shown.slice(0, seconds)) expect(width).toBe(tileWidth);
    for (const width of shown.slice(seconds))
      expect(Math.abs(width - uprightWidth)).toBeLessThan(roundingPixels);
  });

  test('their profile or the shape of their pixels changes: they are encoded', async () => {
    for (const second of ['main', 'narrow']) {
      const bytes = await joined(`${second}.mp4`, of('wide', second));
      expect(await upload(bytes)).toMatchObject({ isPassedThrough: false });
    }
  });

  test('nothing but the place of the parameter sets changes: they are passed through', async () => {
    expect(await upload(await joined('same.mp4', of('wide', 'wide')))).toMatchObject({
      isPassedThrough: true,
    });
    expect(await upload(await flv(of('wide', 'wide')))).toMatchObject({ isPassedThrough: true });
  });

  test('the sound of two mono tracks goes on', async () => {
    const video = join(folder, 'mono.ts');
    await writeFile(video, await joined('mono.ts', of('wide', 'tall')));
    const path = join(folder, 'mono.mkv');
    const tone = (hertz: number) => ['-f', 'lavfi', '-i', `sine=${hertz}:r=48000:d=${2 * seconds}`];
    await ffmpeg(
      ...['-i', video, ...tone(440), ...tone(660), '-map', '0:v', '-map', '1:a', '-map', '2:a'],
      ...['-c:v', 'copy', '-c:a', 'aac', '-ac', '1', path],
    );
    const { audio } = await upload(await readFile(path));
    expect(audio).toHaveLength(1);
    const raw = join(folder, 'sound.pcm');
    await ffmpeg('-nostdin', '-i', audio[0]!, '-ac', '1', '-ar', '48000', '-f', 's16le', raw);
    const decoded = await readFile(raw);
    const loud = Array.from({ length: decoded.length / 9600 }, (_, index) => {
      const samples = new Int16Array(
        decoded.buffer.slice(decoded.byteOffset + index * 9600, decoded.byteOffset + (index + 1) * 9600),
      );
      return samples.some(sample => Math.abs(sample) > 500);
    });
    // Tenths of a second.
    expect(loud.length).toBeGreaterThanOrEqual(20 * seconds);
    expect(loud.slice(0, 20 * seconds)).not.toContain(false);
  });
});

describe('a track has two sample entries', () => {
  /** The sample entry and the samples of a file. */
  async function partOf(type: string) {
    const path = join(folder, `${type}-part.mp4`);
    const codec = type === 'hvc1' ? hevc : h264;
    await ffmpeg(
      ...['-f', 'lavfi', '-i', `testsrc2=s=320x180:r=${framesPerSecond}:d=${seconds}`, ...codec],
      ...['-tag:v', type, path],
    );
    const bytes = await readFile(path);
    const readAt = async (position: number, length: number) => bytes.subarray(position, position + length);
    const [track] = (await readProgressiveMovie(readAt, bytes.length)).tracks;
    const entryAt = bytes.lastIndexOf(type) - 4;
    const cursor = new SampleCursor(track!.samples, bytes.length);
    const samples: MadeSample[] = [];
    while (cursor.next()) {
      const { position, sizeBytes, isSync } = cursor;
      samples.push({ durationTicks: 1, isSync, data: bytes.subarray(position, position + sizeBytes) });
    }
    return { entry: bytes.subarray(entryAt, entryAt + bytes.readUInt32BE(entryAt)), samples };
  }

  async function made(types: readonly [string, string], entryOfChunk: readonly number[]): Promise<Buffer> {
    const parts = [await partOf(types[0]), await partOf(types[1])] as const;
    const samples = entryOfChunk.flatMap(entry => parts[entry - 1]!.samples);
    return makeMovie([
      {
        kind: 'video',
        timescale: framesPerSecond,
        samples,
        samplesPerChunk: seconds * framesPerSecond,
        entries: parts.map(({ entry }) => entry),
        entryOfChunk,
      },
    ]).bytes;
  }

  test('no sample uses the second one: nothing is lost', async () => {
    const { variants } = await upload(await made(['avc1', 'hvc1'], [1, 1]));
    expect(await squaresOf(variants[0]!)).toHaveLength(2 * seconds * framesPerSecond);
  });

  for (const types of [
    ['avc1', 'hvc1'],
    ['hvc1', 'avc1'],
    ['avc1', 'avc3'],
  ] as const) {
    test(`${types.join(' and ')}: the upload fails, and says why`, async () => {
      const { videoId } = await server.create();
      expect(await server.send(videoId, await made(types, [1, 2]))).toBe(201);
      const { encoding } = await server.until(
        videoId,
        status => status.encoding.failure !== undefined,
        'failure',
      );
      expect(encoding.failure).toContain(
        `The video changes its format within one track (${types.join(', ')})`,
      );
    });
  }
});
