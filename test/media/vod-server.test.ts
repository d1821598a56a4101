import { hash } from 'node:crypto';
import { once } from 'node:events';
import { readFile, stat, statfs } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { createLiveStream } from '../../scripts/server-process.ts';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { fixture } from '../support/fixtures.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';
import { makeTempDir, removeDir, testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { digestOfFile, filesIn, formOf, makeFilm, VideoServer, workersOn } from './vod-server-fixture.ts';

let folder: string;
/** Plays as it is, once it is there. */
let carried: Buffer;

beforeAll(async () => {
  folder = await makeTempDir();
  carried = await readFile(await fixture('h264-aac'));
});
afterAll(() => removeDir(folder));

const settings = { MILLRACE_ENCODE_PRESET: 'ultrafast' };

async function start(
  env: Record<string, string> = {},
  dataDir?: string,
  hasImages = false,
): Promise<VideoServer> {
  const server = await VideoServer.start(dataDir ?? (await testTempDir()), { ...settings, ...env });
  if (!hasImages) server.leaveOutImages();
  onTestFinished(() => server.stop());
  return server;
}

const one = { 'user-agent': 'the first viewer' };
const two = { 'user-agent': 'the second viewer' };

/** Path of an address of the API, whatever host it names. */
function pathOf(address: string): string {
  const { pathname, search } = new URL(address);
  return pathname + search;
}

/** The address of a playlist's first entry that is one. */
function entryOf(playlist: string | number, base: string): string {
  const line = String(playlist)
    .split('\n')
    .find(text => text !== '' && !text.startsWith('#'));
  const { pathname, search } = new URL(line ?? 'missing', new URL(base, 'http://host'));
  return pathname + search;
}

describe('a private video', () => {
  test('belongs to the first viewer of its token, through playlists, segments, mp4 and images, also after a restart', async () => {
    const dataDir = await testTempDir();
    const server = await start({}, dataDir, true);
    const { videoId } = await server.create({ public: false });
    expect(await server.send(videoId, carried)).toBe(201);
    await server.untilDone(videoId);
    const shown = async (from: VideoServer) =>
      ((await (await from.call('GET', `/videos/${videoId}`)).json()) as { assets: Record<string, string> })
        .assets;
    const assets = await shown(server);
    const manifest = pathOf(assets.hls!);
    const statusesOf = async (from: VideoServer, paths: readonly string[], headers: Record<string, string>) =>
      await Promise.all(
        paths.map(async path => (await fetch(from.process.baseUrl + path, { headers })).status),
      );

    const base = manifest.slice(0, manifest.indexOf('/hls/'));
    expect(base).toMatch(new RegExp(`^/vod/${videoId}/token/[\\w-]+$`));
    expect(await server.text(manifest.replace(/\/token\/[^/]+/, ''), one)).toBe(404);
    const multivariant = await server.text(manifest, one);
    const mediaPath = entryOf(multivariant, manifest);
    const media = await server.text(mediaPath, one);
    const segmentPath = entryOf(media, mediaPath);
    const session = JSON.parse(String(await server.text(`${base}/session`, one))).session_token as string;
    expect(mediaPath).toContain(`?avh=${session}`);
    expect(segmentPath).toMatch(new RegExp(`/video-\\d+-\\d+\\.m4s\\?avh=${session}$`));

    const bare = (path: string) => path.split('?')[0]!;
    const paths = [
      ...[manifest, bare(mediaPath), bare(segmentPath)],
      ...[assets.mp4, assets.thumbnail, assets.player].map(address => pathOf(address!)),
      `${base}/storyboard.vtt`,
    ];
    const all = (status: number) => paths.map(() => status);
    expect(await statusesOf(server, paths, one)).toEqual(all(200));
    expect(await statusesOf(server, paths, two)).toEqual(all(404));
    const withAvh = paths.map(path => `${path}${path.includes('?') ? '&' : '?'}avh=${session}`);
    expect(await statusesOf(server, withAvh, two)).toEqual(all(200));
    expect(await statusesOf(server, paths, { ...two, 'x-token-session': session })).toEqual(all(200));

    await server.kill();
    const again = await start({}, dataDir, true);
    expect(await statusesOf(again, paths, one)).toEqual(all(200));
    expect(await statusesOf(again, paths, two)).toEqual(all(404));
    expect(await statusesOf(again, withAvh, two)).toEqual(all(200));

    const changed = await again.call('PATCH', `/videos/${videoId}`, { body: { public: true } });
    expect(changed.status).toBe(200);
    const open = (await shown(again)).hls!;
    expect(pathOf(open)).toBe(`/vod/${videoId}/hls/manifest.m3u8`);
    expect(typeof (await again.text(pathOf(open), two))).toBe('string');
    const tokenPaths = paths.filter(path => path.includes('/token/'));
    expect(await statusesOf(again, tokenPaths, one)).toEqual(tokenPaths.map(() => 404));
  });
});

describe('an encode', () => {
  test('leaves a live stream its time, and ends all the same', async () => {
    const server = await start({ MILLRACE_LIVE_SEGMENT_TARGET: '1s', MILLRACE_ENCODE_PRESET: 'veryfast' });
    const film = join(folder, 'long.mp4');
    await makeFilm(film, { seconds: 20 });
    const stream = await createLiveStream(server.process.baseUrl, server.process.productionKey, 'On air');
    await using publisher = publishTestPicture({
      url: `rtmp://127.0.0.1:${server.process.rtmpPort}/s/${stream.streamKey}`,
      gopSeconds: 1,
    });
    const watch = await StreamMonitor.begin(`${server.process.baseUrl}/${stream.liveStreamId}.m3u8`);
    await watch.until(({ realSegments }) => realSegments >= 4, 'four segments');

    const listener = new WebSocket(
      `${server.process.baseUrl}/events?types=video.encoding.progress,video.encoding.quality.completed`,
      { auth: `${server.key}:` },
    );
    const told: { type: string; videoId: string; quality: string; percent: number }[] = [];
    listener.on('message', data => told.push(JSON.parse(String(data))));
    await once(listener, 'open');

    const { videoId } = await server.create();
    expect(await server.send(videoId, await readFile(film))).toBe(201);
    await server.until(
      videoId,
      ({ encoding }) => encoding.qualities.some(({ status }) => status === 'encoding'),
      'an encode',
    );
    const before = watch.realSegments;
    if (process.platform === 'linux') {
      // The priority is set just after the start.
      await waitUntil(() => {
        const encoders = workersOn(server.dataDir).filter(({ words }) =>
          words.some(word => word.endsWith('240p.mp4')),
        );
        return encoders.length > 0 && encoders.every(({ nice }) => nice >= 10);
      });
    }
    await server.until(
      videoId,
      ({ encoding: { qualities } }) =>
        qualities.filter(({ type }) => type === 'hls').every(({ status }) => status === 'encoded'),
      'all qualities',
    );
    // Viewers went on meanwhile. The benchmarks measure how fast.
    expect(watch.realSegments).toBeGreaterThan(before);
    await publisher.stop();
    await watch.stop();
    expect(await watch.brokenRules()).toEqual([]);
    await server.untilDone(videoId);
    await waitUntil(() => told.at(-1)?.type === 'video.encoding.quality.completed');
    listener.terminate();
    const progress = told.filter(
      ({ type, quality }) => type === 'video.encoding.progress' && quality === '240p',
    );
    const percents = progress.map(({ percent }) => percent);
    expect(progress.length).toBeGreaterThan(0);
    expect(percents).toEqual(percents.toSorted((a, b) => a - b));
    expect(new Set(percents).size).toBe(percents.length);
    expect(new Set(told.slice(1).map(message => message.videoId))).toEqual(new Set([videoId]));
  });

  test('waits while the disk is full, and goes on when there is room', async () => {
    const dataDir = await testTempDir();
    const film = join(folder, 'short.mp4');
    await makeFilm(film, { seconds: 3 });
    const server = await start({}, dataDir);
    const { videoId } = await server.create({ mp4Support: false });
    expect(await server.send(videoId, await readFile(film))).toBe(201);
    await server.kill();

    const full = await start({ MILLRACE_UPLOADS_MIN_FREE: await moreThanFree(dataDir) }, dataDir);
    await waitUntil(
      () =>
        full.read<{ failure: string | null }>("SELECT failure FROM jobs WHERE kind = 'encode'")[0]?.failure,
      { what: 'a refused encode' },
    );
    const { encoding } = await full.status(videoId);
    expect(encoding).toMatchObject({ playable: false });
    expect(encoding.failure).toBeUndefined();
    expect(encoding.qualities.map(({ status }) => status)).toEqual(['waiting', 'waiting']);

    const other = await full.create();
    const refused = await full.call('POST', `/videos/${other.videoId}/source`, { body: formOf(carried) });
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ title: "The server's disk is full." });
    expect((await full.status(other.videoId)).ingest).toBeUndefined();
    expect(await filesIn(dataDir, 'incoming')).toEqual([]);
    expect(await filesIn(dataDir, 'vod', other.videoId)).toEqual([]);
    await full.stop();

    const again = await start({}, dataDir);
    await again.untilDone(videoId);
    // And the one that was refused can be sent now.
    expect(await again.send(other.videoId, carried)).toBe(201);
    await again.untilDone(other.videoId);
  });
});

/** A size that the folder's file system has not got left, as a setting. */
async function moreThanFree(path: string): Promise<string> {
  const { bavail, bsize } = await statfs(path);
  return `${Math.min(1024, Math.ceil((bavail * bsize) / 2 ** 30) + 64)}GiB`;
}

/** Starts another web server. */
async function startOrigin(handle: RequestListener): Promise<string> {
  const origin = createServer(handle);
  await new Promise<void>(resolve => origin.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    origin.closeAllConnections();
    await new Promise(resolve => origin.close(resolve));
  });
  return `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
}

describe('a source from an address', () => {
  const env = { MILLRACE_ALLOW_PRIVATE_TARGETS: 'true' };
  /** A server that may fetch from this machine. */
  let server: VideoServer;
  beforeAll(async () => {
    server = await VideoServer.start(join(folder, 'data'), { ...settings, ...env });
    server.leaveOutImages();
  });
  afterAll(() => server.stop());

  test('is fetched although it comes slowly and breaks off, and becomes a video', async () => {
    const ranges: (string | undefined)[] = [];
    const half = Math.floor(carried.length / 2);
    const origin = await startOrigin((request, response) => {
      ranges.push(request.headers.range);
      if (request.url === '/film.mp4') response.writeHead(302, { location: '/moved.mp4' }).end();
      else if (request.headers.range === undefined) {
        response.writeHead(200, { etag: '"the-film"', 'content-length': carried.length });
        response.write(carried.subarray(0, half), () => setTimeout(() => response.destroy(), 300));
      } else {
        const from = Number(/\d+/.exec(request.headers.range)![0]);
        response.writeHead(206, {
          etag: '"the-film"',
          'content-range': `bytes ${from}-${carried.length - 1}/${carried.length}`,
        });
        response.end(carried.subarray(from));
      }
    });
    const { videoId } = await server.create({ source: `${origin}/film.mp4` });
    await server.untilDone(videoId);
    expect(ranges.filter(range => range !== undefined)).toContain(`bytes=${half}-`);
    expect(await readFile(join(server.dataDir, 'vod', videoId, 'source'))).toEqual(carried);
    expect((await server.status(videoId)).ingest).toMatchObject({ status: 'ingested' });
    expect((await filesIn(server.dataDir, 'vod', videoId)).filter(name => name.includes('partial'))).toEqual(
      [],
    );
  });

  test('goes on where it was when the server was killed', async () => {
    const dataDir = await testTempDir();
    const path = join(folder, 'fetched.mp4');
    await makeFilm(path, { seconds: 3, size: '320x180', codec: 'libx264', bytes: 4_000_000 });
    const film = await readFile(path);
    const ranges: string[] = [];
    const origin = await startOrigin((request, response) => {
      const { range } = request.headers;
      if (range === undefined) {
        response.writeHead(200, { etag: '"the-film"', 'content-length': film.length });
        response.write(film.subarray(0, 2_500_000));
        return;
      }
      ranges.push(range);
      const from = Number(/\d+/.exec(range)![0]);
      response.writeHead(206, {
        etag: '"the-film"',
        'content-range': `bytes ${from}-${film.length - 1}/${film.length}`,
      });
      response.end(film.subarray(from));
    });
    const killed = await start(env, dataDir);
    const { videoId } = await killed.create({ source: `${origin}/film.mp4` });
    const partial = join(dataDir, 'vod', videoId, 'source.partial');
    await waitUntil(async () => (await stat(partial)).size > 1_000_000, {
      what: 'the beginning on the disk',
    });
    await killed.kill();
    const { size } = await stat(partial);

    const again = await start(env, dataDir);
    await again.untilDone(videoId);
    expect(ranges).toEqual([`bytes=${size}-`]);
    expect(await digestOfFile(join(dataDir, 'vod', videoId, 'source'))).toBe(hash('sha256', film));
  });

  test.each<[string, RequestListener, RegExp]>([
    ['is missing', (_request, response) => response.writeHead(404).end(), /responded with status 404/],
    [
      'leads in a circle',
      (_request, response) => response.writeHead(302, { location: '/' }).end(),
      /redirects more than 5 times/,
    ],
    [
      'is too large',
      (_request, response) =>
        void response.writeHead(200, { 'content-length': '10000000000' }).flushHeaders(),
      /smaller than 10000000000 bytes/,
    ],
    ['is no film', (_request, response) => response.end('no film'), /./],
  ])('that %s makes a video that says so to its owner and to viewers', async (_what, handle, reason) => {
    const { videoId } = await server.create({ source: `${await startOrigin(handle)}/` });
    const { encoding } = await server.until(
      videoId,
      status => status.encoding.failure !== undefined,
      'a failure',
    );
    expect(encoding.failure).toMatch(reason);
    expect(encoding).toMatchObject({ playable: false, qualities: [] });
    expect(JSON.parse(String(await server.text(`/vod/${videoId}/state`)))).toMatchObject({ failed: true });
  });

  test('that failed, and a file that is no film, are told of as events and give way to another file', async () => {
    const origin = await startOrigin((_request, response) => response.writeHead(404).end());
    const { videoId: missing } = await server.create({ source: `${origin}/` });
    const { videoId: unusable } = await server.create();
    expect(await server.send(unusable, Buffer.from('no film'))).toBe(201);
    const eventsOf = (videoId: string) =>
      server
        .read<{ type: string; payload: string }>(
          'SELECT type, payload FROM events WHERE subject_id = ? ORDER BY id',
          videoId,
        )
        .map(({ type, payload }) => ({ type, ...JSON.parse(payload) }));
    for (const [videoId, type, ingest] of [
      [missing, 'video.source.failed', 'failed'],
      [unusable, 'video.encoding.failed', 'uploaded'],
    ] as const) {
      const status = await server.until(
        videoId,
        ({ encoding }) => encoding.failure !== undefined,
        'a failure',
      );
      const { failure: reason } = status.encoding;
      expect(status.ingest?.status).toBe(ingest);
      expect(eventsOf(videoId)).toEqual([
        type === 'video.source.failed'
          ? { type, videoId, reason }
          : { type, videoId, reason, playable: false },
      ]);
      expect(await server.send(videoId, carried)).toBe(201);
      await server.until(videoId, ({ encoding }) => encoding.playable, 'playing');
      expect((await server.status(videoId)).encoding.failure).toBeUndefined();
      expect(await server.send(videoId, carried)).toBe(400);
    }
  });

  test('is not fetched from this machine unless the setting says so', async () => {
    let asked = 0;
    const origin = await startOrigin((_request, response) => {
      asked += 1;
      response.end(carried);
    });
    const careful = await start();
    for (const source of [
      `${origin}/film.mp4`,
      origin.replace('127.0.0.1', '[::ffff:127.0.0.1]'),
      'http://169.254.169.254/',
    ]) {
      const answer = await careful.call('POST', '/videos', { body: { title: 'Mine', source } });
      expect([source, answer.status]).toEqual([source, 400]);
    }
    const { videoId } = await careful.create({ source: origin.replace('127.0.0.1', 'localhost') });
    await careful.until(videoId, status => status.encoding.failure !== undefined, 'a failure');
    expect(asked).toBe(0);
  });
});
