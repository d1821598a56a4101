import { execFile } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { readImageInfo } from '../../src/http/bodies/image-file.ts';
import { type FrameRequest, makeFrame } from '../../src/vod/images/frames.ts';
import { frameFormatOf } from '../../src/vod/images/image-filters.ts';
import { makeStoryboard, type StoryboardRequest } from '../../src/vod/images/storyboard.ts';
import { ffmpegPath, runToEnd } from '../support/ffmpeg.ts';
import { type FixtureName, fixture } from '../support/fixtures.ts';
import { pngImage } from '../support/images.ts';
import { makeMediaTools, toolBuilds } from '../support/media-tools.ts';
import { startServer } from '../support/start-server.ts';
import { makeTempDir, testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

interface Picture {
  readonly width: number;
  readonly height: number;
  /** Three bytes a pixel. */
  readonly rgb: Buffer;
}

async function decode(path: string): Promise<Picture> {
  const facts = readImageInfo(await readFile(path));
  if (typeof facts !== 'object') throw new Error(`${path} is no image`);
  const args = ['-v', 'error', '-i', path, '-f', 'rawvideo', '-pix_fmt', 'rgb24', 'pipe:1'];
  const { stdout } = await promisify(execFile)(ffmpegPath, args, { encoding: 'buffer', maxBuffer: 2 ** 26 });
  return { ...facts, rgb: stdout };
}

/** The mean colour of a part of a picture; parts are told as fractions. */
function colorOf({ width, height, rgb }: Picture, part = { x: 0.1, y: 0.1, width: 0.8, height: 0.8 }) {
  const sums = [0, 0, 0];
  let count = 0;
  for (let y = Math.floor(part.y * height); y < (part.y + part.height) * height; y += 1) {
    for (let x = Math.floor(part.x * width); x < (part.x + part.width) * width; x += 1) {
      for (const channel of [0, 1, 2]) sums[channel]! += rgb[(y * width + x) * 3 + channel]!;
      count += 1;
    }
  }
  return sums.map(sum => Math.round(sum / count)) as [number, number, number];
}

/**
 * Measures how much a line differs from the mean of its neighbours: much, where every other line is of another
 * moment.
 */
function comb({ width, height, rgb }: Picture): number {
  const line = width * 3;
  let sum = 0;
  for (let index = line; index < rgb.length - line; index += 1) {
    sum += Math.abs(rgb[index]! - (rgb[index - line]! + rgb[index + line]!) / 2);
  }
  return sum / (width * height * 3);
}

/** JPEG and two changes of colour space. */
const colorTolerance = 12;
function expectColor(actual: readonly number[], expected: readonly number[]) {
  for (const [channel, value] of expected.entries()) {
    expect(Math.abs(actual[channel]! - value), `${actual} is not ${expected}`).toBeLessThanOrEqual(
      colorTolerance,
    );
  }
}

/** Full colours, one for each second in turn. */
const colors = [
  [255, 0, 0],
  [0, 255, 0],
  [0, 0, 255],
  [255, 255, 0],
  [0, 255, 255],
  [255, 0, 255],
] as const;
const colorNames = ['red', 'lime', 'blue', 'yellow', 'cyan', 'magenta'];

let folderOfFilms: string;
beforeAll(async () => {
  folderOfFilms = await makeTempDir();
});
/** Films by the arguments that make them: all builds look at the same ones. */
const films = new Map<string, Promise<string>>();

function filmOf(...args: readonly string[]): Promise<string> {
  const key = args.join(' ');
  const made = async (path: string) => {
    await runToEnd(ffmpegPath, ['-v', 'error', '-nostdin', ...args, path]);
    return path;
  };
  const film = films.get(key) ?? made(join(folderOfFilms, `${films.size}.mp4`));
  films.set(key, film);
  return film;
}

/** A film whose colour changes each second. */
function colorFilm(seconds: number, args: readonly string[] = []): Promise<string> {
  const sound = ['-f', 'lavfi', '-i', 'sine=sample_rate=8000:duration=60'];
  const inputs = Array.from({ length: seconds }, (_, second) => [
    ...['-f', 'lavfi', '-i', `color=${colorNames[second % 6]}:size=320x180:rate=25:duration=1`],
  ]).flat();
  return filmOf(
    ...inputs,
    ...sound,
    ...['-filter_complex', `concat=n=${seconds},scale=out_color_matrix=bt709,format=yuv420p[v]`],
    ...['-map', '[v]'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-colorspace', 'bt709', '-g', '25'],
    ...['-sc_threshold', '0', ...args],
  );
}

describe.each(toolBuilds)('with the $name build', build => {
  const tools = makeMediaTools(build);
  const common = { tools, signal: new AbortController().signal, ids: {} };

  const frame = async (request: Partial<FrameRequest> & { source: string }) => {
    const folder = await testTempDir();
    const output = join(folder, 'frame.jpg');
    const isMade = await makeFrame({
      ...common,
      durationSeconds: 6,
      width: 320,
      height: 180,
      atSeconds: undefined,
      output,
      ...request,
    });
    expect(await readdir(folder)).toEqual(isMade ? ['frame.jpg'] : []);
    return isMade ? decode(output) : undefined;
  };
  const frameOf = async (name: FixtureName, request: Partial<FrameRequest> = {}) =>
    frame({ source: await fixture(name), ...request });

  describe('a frame', () => {
    test('is the one at the time that was asked for, also between keyframes and in a clip', async () => {
      const source = await colorFilm(6, ['-g', '250', '-keyint_min', '250']);
      for (const second of [0, 2, 5]) {
        const picture = (await frame({ source, atSeconds: second + 0.5 }))!;
        expectColor(colorOf(picture), colors[second]!);
      }
      const clip = { source, startSeconds: 2, durationSeconds: 3 };
      expectColor(colorOf((await frame({ ...clip, atSeconds: 1.5 }))!), colors[3]);
      expectColor(colorOf((await frame({ ...clip, atSeconds: 3.5 }))!), colors[2]);
    });

    test('is the first one when the film ends before', async () => {
      const source = await colorFilm(3);
      const beyond = { source, durationSeconds: 3, atSeconds: 922.05 };
      expectColor(colorOf((await frame(beyond))!), colors[0]);
      const atTheEnd = { source, durationSeconds: 3, atSeconds: 3 };
      expectColor(colorOf((await frame(atTheEnd))!), colors[0]);
    });

    test('is the last one where the sound goes on alone', async () => {
      const source = await colorFilm(3, ['-map', '3:a']);
      const picture = await frame({ source, durationSeconds: 60, atSeconds: 30 });
      expectColor(colorOf(picture!), colors[2]);
    });

    test('counts from the first instant of a file whose times begin late', async () => {
      const args = ['-output_ts_offset', '10', '-movflags', '+empty_moov+default_base_moof+frag_keyframe'];
      const source = await colorFilm(4, args);
      expectColor(colorOf((await frame({ source, durationSeconds: 4, atSeconds: 2.5 }))!), colors[2]);
    });

    test('by default is not black', async () => {
      // Several keyframes, and one.
      for (const gop of ['15', '1000']) {
        const source = await filmOf(
          ...['-f', 'lavfi', '-i', 'color=black:size=320x180:rate=15:duration=3'],
          ...['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=15:duration=3'],
          ...['-filter_complex', 'concat=n=2,format=yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast'],
          ...['-g', gop, '-sc_threshold', '0'],
        );
        // All candidates with one run, and large ones one by one.
        for (const width of gop === '15' ? [320, 3840] : [320]) {
          const picture = (await frame({ source, width, height: 1080 }))!;
          expect(picture).toMatchObject({ width: 320, height: 180 });
          expect(Math.max(...colorOf(picture))).toBeGreaterThan(60);
        }
      }
    });

    test('of a film that is black throughout is black', async () => {
      const source = await filmOf(
        ...['-f', 'lavfi', '-i', 'color=black:size=64x36:rate=10:duration=2'],
        ...['-c:v', 'libx264', '-pix_fmt', 'yuv420p'],
      );
      expectColor(colorOf((await frame({ source, durationSeconds: 2 }))!), [0, 0, 0]);
    });

    test.each([
      ['h264-720p', 1280, 720],
      ['portrait', 180, 320],
      ['anamorphic', 426, 180],
      ['odd-size', 320, 180],
    ] as const)('has the shape that is shown: %s', async (name, width, height) => {
      const picture = await frameOf(name, { durationSeconds: 3, atSeconds: 1.7 });
      expect(picture).toMatchObject({ width, height });
    });

    test.each([
      ['rotated', 180, 320],
      ['single-frame', 320, 180],
      ['one-pixel', 2, 2],
      ['edit-list', 320, 180],
      ['h264-aac-ts', 320, 180],
      ['h264-long-gop', 320, 180],
      ['truncated-faststart', 320, 180],
    ] as const)('is found at a time, and where none is given: %s', async (name, width, height) => {
      const durationSeconds = name === 'single-frame' ? 0.033 : 3;
      for (const atSeconds of [undefined, 1.7]) {
        const picture = (await frameOf(name, { durationSeconds, atSeconds }))!;
        expect(picture).toMatchObject({ width, height });
      }
    });

    test('is made small enough for the web', async () => {
      const source = await filmOf(
        ...['-f', 'lavfi', '-i', 'testsrc2=size=1440x2560:rate=1:duration=1'],
        ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'],
      );
      expect(await frame({ source, durationSeconds: 1 })).toMatchObject({ width: 720, height: 1280 });
    });

    test('of HDR has the brightness of the web', async () => {
      const flat = colorOf((await frameOf('hdr', { durationSeconds: 2, atSeconds: 1 }))!);
      const mapped = colorOf((await frameOf('hdr', { durationSeconds: 2, atSeconds: 1, toneMap: true }))!);
      expect(mapped).not.toEqual(flat);
      expect(Math.max(...mapped)).toBeGreaterThan(40);
      expect(await frameOf('hdr', { durationSeconds: 2, toneMap: true })).toBeDefined();
    });

    test('of an interlaced film shows one moment', async () => {
      // Upright stripes that move sideways: only where two moments are woven do lines differ.
      const stripes = "format=gray,geq=lum='255*gt(mod(X+8*N,64),32)',tinterlace=interleave_top,setfield=tff";
      const source = await filmOf(
        ...['-f', 'lavfi', '-i', 'color=black:size=320x180:rate=50:duration=1'],
        ...['-vf', stripes, '-c:v', 'libx264', '-flags', '+ildct+ilme', '-x264-params', 'tff=1'],
        ...['-pix_fmt', 'yuv420p'],
      );
      const { streams } = await tools.probe(source, common.signal);
      const look = frameFormatOf(streams[0]!);
      expect(look).toMatchObject({ isInterlaced: true });
      const request = { source, durationSeconds: 1, atSeconds: 0.5 };
      expect(comb((await frame(request))!)).toBeGreaterThan(20);
      const picture = (await frame({ ...request, ...look }))!;
      expect(picture).toMatchObject({ width: 320, height: 180 });
      expect(comb(picture)).toBeLessThan(3);
    });

    test('is taken from the stream that was named', async () => {
      const source = await filmOf(
        ...['-f', 'lavfi', '-i', 'color=red:size=64x36:duration=1'],
        ...['-f', 'lavfi', '-i', 'color=blue:size=32x18:duration=1', '-map', '0', '-map', '1'],
      );
      expect(await frame({ source, streamIndex: 1, durationSeconds: 1 })).toMatchObject({ width: 32 });
    });

    test('is refused for sound alone, and for what is no film', async () => {
      await expect(frameOf('audio-only')).rejects.toMatchObject({ code: 'process-failed' });
      for (const name of ['audio-only', 'not-video', 'truncated'] as const) {
        await expect(frameOf(name, { atSeconds: 1 })).rejects.toMatchObject({ code: 'process-failed' });
      }
    });

    test('is given up when that is asked for', async () => {
      const controller = new AbortController();
      controller.abort(new Error('cancelled'));
      const source = await fixture('h264-aac');
      await expect(frame({ source, signal: controller.signal })).rejects.toThrow('cancelled');
      expect(tools.owner.running).toBe(0);
    });
  });

  describe('a storyboard', () => {
    const storyboard = async (request: Partial<StoryboardRequest> & { source: string }) => {
      const folder = await testTempDir();
      const isMade = await makeStoryboard({
        ...common,
        durationSeconds: 6,
        width: 320,
        height: 180,
        folder,
        ...request,
      });
      expect((await readdir(folder)).sort()).toEqual(isMade ? ['storyboard.jpg', 'storyboard.vtt'] : []);
      if (!isMade) return undefined;
      const cues = await readFile(join(folder, 'storyboard.vtt'), 'utf8');
      const image = await decode(join(folder, 'storyboard.jpg'));
      const { size } = await stat(join(folder, 'storyboard.jpg'));
      const parts = [...cues.matchAll(/storyboard\.jpg#xywh=(\d+),(\d+),(\d+),(\d+)/g)].map(part => {
        const [x, y, width, height] = part.slice(1).map(Number) as [number, number, number, number];
        return {
          x: x / image.width,
          y: y / image.height,
          width: width / image.width,
          height: height / image.height,
        };
      });
      return { image, parts, size };
    };
    /** The colour in the middle of a tile. */
    const tileColor = (
      { image, parts }: NonNullable<Awaited<ReturnType<typeof storyboard>>>,
      index: number,
    ) => {
      const { x, y, width, height } = parts[index]!;
      return colorOf(image, {
        x: x + width / 4,
        y: y + height / 4,
        width: width / 2,
        height: height / 2,
      });
    };

    test('shows what is shown at each time, whichever way it is read', async () => {
      const seconds = 12;
      const source = await colorFilm(seconds);
      for (const [width, height] of [
        // Every frame; place by place.
        [320, 180],
        [64_000, 36_000],
      ] as const) {
        const made = (await storyboard({ source, durationSeconds: seconds, width, height }))!;
        expect(made.parts).toHaveLength(seconds);
        for (let second = 0; second < seconds; second += 1) {
          expectColor(tileColor(made, second), colors[second % 6]!);
        }
      }
    });

    test('counts from the first instant of a file whose times begin late, and from the start of a clip', async () => {
      const args = ['-output_ts_offset', '10', '-movflags', '+empty_moov+default_base_moof+frag_keyframe'];
      const source = await colorFilm(12, args);
      for (const [width, height] of [
        [320, 180],
        [64_000, 36_000],
      ] as const) {
        const made = (await storyboard({ source, startSeconds: 3, durationSeconds: 6, width, height }))!;
        expect(made.parts).toHaveLength(6);
        for (const second of [0, 1, 5]) expectColor(tileColor(made, second), colors[(second + 3) % 6]!);
      }
    });

    test('shows the last picture where the sound goes on alone', async () => {
      const source = await colorFilm(3, ['-map', '3:a']);
      const made = (await storyboard({ source, durationSeconds: 8 }))!;
      expect(made.parts).toHaveLength(8);
      expectColor(tileColor(made, 0), colors[0]);
      for (const second of [3, 5, 7]) expectColor(tileColor(made, second), colors[2]);
    });

    test.each([
      ['single-frame', { durationSeconds: 0.033 }, 1, 160, 90],
      ['portrait', { durationSeconds: 3, width: 180, height: 320 }, 3, 270, 160],
      ['rotated', { width: 180, height: 320 }, 6, 540, 160],
      ['h264-long-gop', { durationSeconds: 30 }, 30, 1600, 270],
      ['hdr', { durationSeconds: 2, toneMap: true }, 2, 320, 90],
    ] as const)(
      'of %s has at least one picture, and the right shape',
      async (name, film, tiles, width, height) => {
        const made = (await storyboard({ source: await fixture(name), ...film }))!;
        expect(made.parts).toHaveLength(tiles);
        expect(made.image).toMatchObject({ width, height });
      },
    );

    test('stays small when the film is noise', async () => {
      const source = await filmOf(
        ...['-f', 'lavfi', '-i', 'color=gray:size=160x90:rate=2:duration=100'],
        ...['-vf', 'noise=alls=100:allf=t', '-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '10'],
      );
      const made = (await storyboard({ source, durationSeconds: 100, width: 160, height: 90 }))!;
      expect(made.image).toMatchObject({ width: 1600, height: 900 });
      expect(made.size).toBeLessThanOrEqual(1_000_000);
    });

    test('is refused for what has no picture', async () => {
      for (const name of ['audio-only', 'not-video'] as const) {
        await expect(storyboard({ source: await fixture(name) })).rejects.toMatchObject({
          code: 'process-failed',
        });
      }
    });
  });
});

test('a server shows the frame that was picked before the film came, then others, and a storyboard', async () => {
  await using server = await startServer();
  const folder = await testTempDir();
  const film = await readFile(await colorFilm(6));
  const { videoId } = (await (await server.api('POST', '/videos', { title: 'Colours' })).json()) as {
    videoId: string;
  };
  const send = async (path: string, bytes: Buffer) => {
    const body = new FormData();
    body.append('file', new Blob([new Uint8Array(bytes)]), 'file');
    const authorization = `Basic ${Buffer.from(`${server.productionKey}:`).toString('base64')}`;
    const answer = await fetch(`${server.baseUrl}/videos/${videoId}/${path}`, {
      method: 'POST',
      headers: { authorization },
      body,
    });
    expect(answer.ok, await answer.text()).toBe(true);
  };
  const pick = (timecode: string) => server.api('PATCH', `/videos/${videoId}/thumbnail`, { timecode });
  const isShown = async (color: readonly number[]) => {
    const answer = await fetch(`${server.baseUrl}/vod/${videoId}/thumbnail.jpg`);
    if (answer.headers.get('content-type') !== 'image/jpeg') return false;
    const path = join(folder, 'shown.jpg');
    await writeFile(path, Buffer.from(await answer.arrayBuffer()));
    const shown = colorOf(await decode(path));
    return color.every((value, channel) => Math.abs(shown[channel]! - value) <= colorTolerance);
  };

  await pick('00:00:02:10');
  await send('source', film);
  await waitUntil(() => isShown(colors[2]), { everyMs: 100 });
  await pick('00:00:04.5');
  await waitUntil(() => isShown(colors[4]), { everyMs: 100 });
  await send('thumbnail', pngImage(320, 180));
  const uploaded = await fetch(`${server.baseUrl}/vod/${videoId}/thumbnail.jpg`);
  expect(uploaded.headers.get('content-type')).toBe('image/png');
  await pick('9000');
  await waitUntil(() => isShown(colors[0]), { everyMs: 100 });

  const cues = async () => fetch(`${server.baseUrl}/vod/${videoId}/storyboard.vtt`);
  await waitUntil(async () => (await cues()).ok, { everyMs: 100 });
  expect((await (await cues()).text()).match(/storyboard\.jpg#xywh=/g)).toHaveLength(6);
  const sprite = await fetch(`${server.baseUrl}/vod/${videoId}/storyboard.jpg`);
  expect([sprite.status, sprite.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
});
