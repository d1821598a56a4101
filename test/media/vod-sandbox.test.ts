import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deliveryPaths } from '../../src/delivery/paths/delivery-paths.ts';
import { sandboxOverlay } from '../../src/ffmpeg/arguments/sandbox-watermark.ts';
import { exifOf, withExif } from '../support/exif.ts';
import { ffmpegPath, ffprobe, runToEnd } from '../support/ffmpeg.ts';
import { leaveOutImages } from '../support/leave-out-images.ts';
import { toolBuilds } from '../support/media-tools.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Encoders move a value of luma by a few steps. */
const LUMA_STEPS = 10;
/** The letters of the watermark are nearly white; in the smallest pictures they are blurred. */
const LETTER_STEPS = 25;
/** A frame, or the last samples of sound, may reach a bit further. */
const OVERHANG_SECONDS = 0.15;
const allowedSeconds = 2;
const filmSeconds = 4;

interface Video {
  readonly videoId: string;
  readonly assets: { hls: string; thumbnail: string; mp4: string };
}

let folder: string;
let film: string;
const images: Record<string, string> = {};
beforeAll(async () => {
  folder = await makeTempDir();
  film = join(folder, 'film.mp4');
  // One gray, so that whatever is not is the watermark. In production it is carried as it is.
  await runToEnd(ffmpegPath, [
    ...['-v', 'error', '-f', 'lavfi', '-i', `color=gray:size=640x480:rate=10:duration=${filmSeconds}`],
    ...['-f', 'lavfi', '-i', `sine=frequency=440:duration=${filmSeconds}`],
    ...['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-g', '10', '-c:a', 'aac', film],
  ]);
  for (const [type, size] of Object.entries({ png: '1600x900', jpg: '360x640', webp: '640x360' })) {
    images[type] = join(folder, `image.${type}`);
    const source = ['-f', 'lavfi', '-i', `color=gray:size=${size}`, '-frames:v', '1'];
    await runToEnd(ffmpegPath, ['-v', 'error', ...source, images[type]]);
  }
});
afterAll(() => removeDir(folder));

/** Light of the first picture that ffmpeg reads at a path or address, then that of the one `atSeconds`. */
async function lumasOf(input: string, atSeconds?: number) {
  const later = atSeconds === undefined ? '' : `+gte(t,${atSeconds})`;
  const count = atSeconds === undefined ? 1 : 2;
  const { stdout } = await promisify(execFile)(
    ffmpegPath,
    [
      ...['-v', 'error', '-i', input, '-map', '0:v:0', '-vf', `select='not(n)${later}'`],
      ...['-frames:v', String(count), '-vsync', 'passthrough'],
      ...['-f', 'image2pipe', '-c:v', 'pgm', '-pix_fmt', 'gray', '-'],
    ],
    { encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 },
  );
  const [, width, height] = /^P5\s(\d+)\s(\d+)\s255\s/.exec(stdout.toString('latin1', 0, 40)) ?? [];
  const size = { width: Number(width), height: Number(height) };
  const bytes = stdout.length / count;
  return Array.from({ length: count }, (_, index) => ({
    ...size,
    luma: stdout.subarray(0, (index + 1) * bytes).subarray(-size.width * size.height),
  }));
}
type Picture = Awaited<ReturnType<typeof lumasOf>>[number];

async function lumaOf(input: string): Promise<Picture> {
  return (await lumasOf(input))[0]!;
}

/**
 * Tells whether a picture, or a part of it, is of one gray but for the watermark; the part begins at `left` and
 * `top`.
 */
function marksOf(
  { luma, width: rowLength }: Picture,
  part: { left: number; top: number; width: number; height: number },
): { isMarked: boolean; isElsewhere: boolean } {
  const { x, y, width, height } = sandboxOverlay(part);
  const at = (column: number, row: number) => luma[part.left + column + rowLength * (part.top + row)] ?? -1;
  const gray = at(2, 2);
  let brightest = 0;
  let isElsewhere = false;
  for (let row = 0; row < part.height; row++) {
    for (let column = 0; column < part.width; column++) {
      const value = at(column, row);
      // JPEG and scaling blur edges.
      const isNear = column >= x - 9 && column < x + width + 9 && row >= y - 9 && row < y + height + 9;
      if (isNear) brightest = Math.max(brightest, value);
      else if (Math.abs(value - gray) > LUMA_STEPS) isElsewhere = true;
    }
  }
  return { isMarked: brightest > gray + LETTER_STEPS, isElsewhere };
}

async function markOf(input: string) {
  return (await marksAt(input))[0];
}

async function marksAt(input: string, atSeconds?: number) {
  const pictures = await lumasOf(input, atSeconds);
  return pictures.map(picture => marksOf(picture, { left: 0, top: 0, ...picture }));
}

const marked = { isMarked: true, isElsewhere: false };
const plain = { isMarked: false, isElsewhere: false };

function clientOf(server: TestServer, key: string) {
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(server.baseUrl + path, {
      method,
      headers: { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` },
      body: body === undefined ? undefined : body instanceof FormData ? body : JSON.stringify(body),
    });
    const text = await answer.text();
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
    return { status: answer.status, json: (text === '' ? undefined : JSON.parse(text)) as any };
  };
  const send = async (path: string, file: string) => {
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(await readFile(file))]), 'a.file');
    return call('POST', path, form);
  };
  return {
    call,
    send,
    async add(path: string, values: Record<string, unknown> = {}): Promise<Video> {
      const { json } = await call('POST', '/videos', { title: 'A film', ...values });
      expect((await send(`/videos/${json.videoId}/source`, path)).status).toBe(201);
      return json;
    },
    async done(videoId: string) {
      const { json } = await waitUntil(
        async () => {
          const status = await call('GET', `/videos/${videoId}/status`);
          const { qualities, playable, failure } = status.json.encoding;
          expect(failure).toBeUndefined();
          const isDone = playable && qualities.every((one: { status: string }) => one.status === 'encoded');
          return isDone ? status : undefined;
        },
        { what: 'all qualities' },
      );
      return json.encoding;
    },
  };
}

/** Addresses of all renditions, from the master playlist. */
async function renditionsOf({ assets }: Video): Promise<string[]> {
  const text = await (await fetch(assets.hls)).text();
  return text
    .split('\n')
    .filter(line => line.endsWith('.m3u8'))
    .map(line => new URL(line, assets.hls).href);
}

async function secondsOf(input: string): Promise<number> {
  const stdout = await ffprobe([
    ...['-v', 'error', '-show_entries', 'format=duration', '-of', 'csv=p=0', input],
  ]);
  return Number(stdout);
}

test('there is no path with pictures of videos that is not looked at here', () => {
  const withPictures = deliveryPaths
    .filter(({ path }) => path.startsWith('/vod/') && !path.includes('/token/'))
    .filter(({ answers }) => answers[200]?.types?.some(type => /^(image|video)\//.test(type)))
    .map(({ path }) => path.slice('/vod/{videoId}'.length));
  expect(withPictures.sort()).toEqual([
    '/hls/{rendition}/{name}',
    '/mp4/source.mp4',
    '/mp4/{height}/source.mp4',
    '/storyboard.jpg',
    '/thumbnail.jpg',
  ]);
});

describe.each(toolBuilds)('with the $name ffmpeg, in the sandbox', ({ ffmpeg: { path } }) => {
  let server: TestServer;
  let client: ReturnType<typeof clientOf>;
  let video: Video;
  beforeAll(async () => {
    server = await startServer(
      { 'ffmpeg.path': path, 'encode.preset': 'ultrafast' },
      { sandboxRules: { maxVideoMs: allowedSeconds * 1000 } },
    );
    client = clientOf(server, server.sandboxKey);
    video = await client.add(film);
  });
  afterAll(() => server.stop());

  test('a film is cut, and each of its pictures is marked', async () => {
    const { qualities, metadata } = await client.done(video.videoId);
    expect(qualities.map(({ quality }: { quality: string }) => quality)).toEqual([
      '240p',
      '360p',
      '480p',
      '480p',
    ]);
    expect(metadata.duration).toBe(allowedSeconds);
    const playlists = await renditionsOf(video);
    expect(playlists).toHaveLength(3);
    for (const input of [...playlists, video.assets.mp4, video.assets.mp4.replace('/mp4/', '/mp4/480/')]) {
      expect(await marksAt(input, allowedSeconds - 0.3), input).toEqual([marked, marked]);
    }
    expect(Math.abs((await secondsOf(video.assets.mp4)) - allowedSeconds)).toBeLessThan(OVERHANG_SECONDS);

    const base = video.assets.thumbnail.replace('thumbnail.jpg', '');
    const cues = await waitUntil(
      async () => {
        const answer = await fetch(`${base}storyboard.vtt`);
        return answer.status === 200 ? await answer.text() : undefined;
      },
      { what: 'the storyboard' },
    );
    expect(await markOf(video.assets.thumbnail)).toEqual(marked);
    const tiles = [...cues.matchAll(/#xywh=(\d+),(\d+),(\d+),(\d+)/g)].map(([, ...numbers]) =>
      numbers.map(Number),
    );
    expect(tiles.length).toBeGreaterThan(0);
    const sprite = await lumaOf(`${base}storyboard.jpg`);
    for (const [left, top, width, height] of tiles as [number, number, number, number][]) {
      expect(marksOf(sprite, { left, top, width, height })).toEqual(marked);
    }
  });

  test('a thumbnail is marked: a frame that was asked for, and whatever was uploaded', async () => {
    const { thumbnail } = video.assets;
    for (const type of ['png', 'jpg', 'webp']) {
      const { status } = await client.send(`/videos/${video.videoId}/thumbnail`, images[type]!);
      expect(status).toBe(200);
      expect((await fetch(thumbnail)).headers.get('content-type')).toBe('image/jpeg');
      expect(await markOf(thumbnail), type).toEqual(marked);
    }
    const before = (await fetch(thumbnail)).headers.get('etag');
    await client.call('PATCH', `/videos/${video.videoId}/thumbnail`, { timecode: '00:00:01' });
    await waitUntil(async () => (await fetch(thumbnail)).headers.get('etag') !== before, {
      what: 'the frame',
    });
    expect(await markOf(thumbnail)).toEqual(marked);

    const stream = (await client.call('POST', '/live-streams', { name: 'A stream' })).json;
    expect((await client.send(`/live-streams/${stream.liveStreamId}/thumbnail`, images.png!)).status).toBe(
      201,
    );
    expect(await markOf(stream.assets.thumbnail)).toEqual(marked);
  });

  test('a thumbnail is turned as its Exif data says, whatever it is, and the mark is where it is in others', async () => {
    const empty = (await client.call('POST', '/videos', { title: 'A film' })).json as Video;
    const sizes = { png: [1600, 900], jpg: [360, 640], webp: [640, 360] } as const;
    for (const [type, [width, height]] of Object.entries(sizes)) {
      const turned = join(folder, `turned.${type}`);
      await writeFile(turned, withExif(await readFile(images[type]!), exifOf(6), { width, height }));
      const { status } = await client.send(`/videos/${empty.videoId}/thumbnail`, turned);
      expect(status, type).toBe(200);
      const picture = await lumaOf(empty.assets.thumbnail);
      expect(Math.abs(picture.width / picture.height - height / width), type).toBeLessThan(0.01);
      expect(await markOf(empty.assets.thumbnail), type).toEqual(marked);
    }
  });

  test('an image that nothing comes out of is refused, and the one before stays', async () => {
    const empty = (await client.call('POST', '/videos', { title: 'A film' })).json as Video;
    await client.send(`/videos/${empty.videoId}/thumbnail`, images.webp!);
    const broken = join(folder, 'broken.png');
    const bytes = await readFile(images.png!);
    await writeFile(broken, Buffer.concat([bytes.subarray(0, 33), Buffer.alloc(200)]));
    const { status, json } = await client.send(`/videos/${empty.videoId}/thumbnail`, broken);
    expect([status, json.detail ?? json.problems]).toEqual([400, 'The image is damaged.']);
    expect(await markOf(empty.assets.thumbnail)).toEqual(marked);
  });

  test('an own watermark is beside that of the sandbox, and a clip is cut', async () => {
    // Only the first film has images to look at.
    leaveOutImages(server.dataDir);
    const { watermarkId } = (await client.send('/watermarks', images.jpg!)).json;
    const watermark = { id: watermarkId, left: '0px', top: '0px', width: '64px', height: '64px' };
    const clip = { startTimecode: '1', endTimecode: '4' };
    const white = join(folder, 'white.mp4');
    await runToEnd(ffmpegPath, [
      ...[
        '-v',
        'error',
        '-y',
        '-f',
        'lavfi',
        '-i',
        `color=white:size=426x240:rate=10:duration=${filmSeconds}`,
      ],
      ...['-c:v', 'libx264', '-pix_fmt', 'yuv420p', white],
    ]);
    const both = await client.add(white, { watermark, clip });
    await client.done(both.videoId);
    const { luma, width, height } = await lumaOf(both.assets.mp4);
    const at = (x: number, y: number) => luma[x + width * y] ?? -1;
    const { x, y } = sandboxOverlay({ width, height });
    expect(at(32, 32)).toBeLessThan(160);
    expect(at(x + 6, y + 6)).toBeLessThan(at(width / 2, 20) - LETTER_STEPS);
    expect(Math.abs((await secondsOf(both.assets.mp4)) - allowedSeconds)).toBeLessThan(OVERHANG_SECONDS);
  });

  test('a clip keeps the mark of its video, without being encoded', async () => {
    await client.done(video.videoId);
    const clip = { startTimecode: '0', endTimecode: '00:00:01.500', precision: 'keyframe' };
    const { status, json } = await client.call('POST', '/videos', {
      title: 'A clip',
      source: video.videoId,
      clip,
    });
    expect(status).toBe(202);
    await client.done(json.videoId);
    expect(await markOf(json.assets.mp4)).toEqual(marked);
    const bytesOf = async ({ assets }: Video) => {
      const { href } = new URL(assets.mp4);
      const text = await ffprobe([
        ...['-v', 'error', '-select_streams', 'v', '-show_entries', 'packet=size', '-of', 'csv=p=0', href],
      ]);
      return text.trim().split('\n').map(Number);
    };
    const [own, whole] = [await bytesOf(json), await bytesOf(video)];
    expect(own.slice(0, 8)).toEqual(whole.slice(0, 8));
  });

  test('sound alone is cut, and so is a file that says that there is less in it than there is', async () => {
    const sound = join(folder, 'sound.m4a');
    const args = ['-v', 'error', '-y', '-i', film, '-vn', '-c', 'copy', sound];
    await runToEnd(ffmpegPath, args);
    const liar = join(folder, 'liar.mp4');
    await writeFile(liar, saysLess(await readFile(film)));
    for (const source of [sound, liar]) {
      const cut = await client.add(source);
      await client.done(cut.videoId);
      for (const input of await renditionsOf(cut)) {
        expect(await secondsOf(input), input).toBeLessThan(allowedSeconds + 0.7);
      }
    }
  });
});

/** A copy of a film whose headers tell of one second. */
function saysLess(film: Buffer): Buffer {
  const copy = Buffer.from(film);
  const halve = (box: string, scaleAt: number, durationAt: number) => {
    for (let at = copy.indexOf(box); at !== -1; at = copy.indexOf(box, at + 4)) {
      copy.writeUInt32BE(copy.readUInt32BE(at + scaleAt), at + durationAt);
    }
  };
  // ISO/IEC 14496-12 8.2.2, 8.4.2: time scale and duration, version 0.
  halve('mvhd', 16, 20);
  halve('mdhd', 16, 20);
  return copy;
}

test('in production nothing is cut, marked, or made anew', async () => {
  await using server = await startServer(
    {},
    { hasImages: false, sandboxRules: { maxVideoMs: 1000, retentionMs: 0 } },
  );
  const client = clientOf(server, server.productionKey);
  const video = await client.add(film);
  expect((await client.done(video.videoId)).metadata.duration).toBe(filmSeconds);
  for (const input of [...(await renditionsOf(video)), video.assets.mp4]) {
    expect(await markOf(input), input).toEqual(plain);
    expect(Math.abs((await secondsOf(input)) - filmSeconds)).toBeLessThan(OVERHANG_SECONDS);
  }
  await client.send(`/videos/${video.videoId}/thumbnail`, images.webp!);
  const shown = await fetch(video.assets.thumbnail);
  expect(shown.headers.get('content-type')).toBe('image/webp');
  expect(Buffer.from(await shown.arrayBuffer())).toEqual(await readFile(images.webp!));
});
