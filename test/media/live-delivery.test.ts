import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseMediaPlaylist } from '../../scripts/parse-media-playlist.ts';
import { ffprobe, outdatedFfmpeg, publishTestPicture } from '../support/ffmpeg.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

async function privateStream(server: TestServer) {
  const stream = await server.createStream('Behind a token');
  await server.api('PATCH', `/live-streams/${stream.liveStreamId}`, { public: false });
  const assets = async (): Promise<{ hls: string; thumbnail: string }> => {
    const answer = await server.api('GET', `/live-streams/${stream.liveStreamId}`);
    const shown = (await answer.json()) as { assets: { hls: string; thumbnail: string } };
    // The server of a test is known by another name to the API.
    const here = (address: string) => server.baseUrl + new URL(address).pathname;
    return { hls: here(shown.assets.hls), thumbnail: here(shown.assets.thumbnail) };
  };
  return { ...stream, assets };
}

/** Decodes an image. */
async function shapeOf(image: Buffer): Promise<string> {
  const folder = await makeTempDir();
  try {
    const path = join(folder, 'frame.jpg');
    await writeFile(path, image);
    const entries = 'stream=codec_name,width,height,sample_aspect_ratio,nb_read_frames';
    const words = ['-v', 'error', '-count_frames', '-show_entries', entries, '-of', 'csv=p=0', path];
    return (await ffprobe(words)).trim();
  } finally {
    await removeDir(folder);
  }
}

const other = { headers: { 'user-agent': 'another browser' } };
const statusOf = async (url: string, init: RequestInit = {}) => (await fetch(url, init)).status;

describe.concurrent('a private live stream', () => {
  it('plays with its token, and shows a changing thumbnail', async () => {
    await using server = await startServer();
    const stream = await privateStream(server);
    const [watched, seen, spare] = [await stream.assets(), await stream.assets(), await stream.assets()];
    await using _ = publishTestPicture({ url: server.rtmpUrl(stream.streamKey) });
    const watch = await StreamMonitor.begin(watched.hls);
    expect(watch.mediaUrl).toMatch(/\/private\/[0-9a-f-]{36}\/li\w{22}\/avh-[\w-]{43}\/br\w+\/source\/index/);
    expect(await statusOf(watched.hls, other)).toBe(404);
    // The address in the playlist has the session in it; the token alone is not enough.
    expect(await statusOf(watch.mediaUrl.replace(/avh-[\w-]+\//, ''), other)).toBe(404);
    expect(await statusOf(`${server.baseUrl}/${stream.liveStreamId}.m3u8`)).toBe(404);

    const frame = async () => {
      const response = await fetch(seen.thumbnail);
      return { headers: response.headers, body: Buffer.from(await response.arrayBuffer()) };
    };
    const first = await waitUntil(
      async () => {
        const made = await frame();
        return made.headers.get('etag') !== '"placeholder"' && made;
      },
      { what: 'a frame', everyMs: 200 },
    );
    expect([...['content-type', 'cache-control'].map(name => first.headers.get(name))]).toEqual([
      ...['image/jpeg', 'private, max-age=10'],
    ]);
    expect(await shapeOf(first.body)).toBe('mjpeg,320,180,1:1,1');
    expect(await statusOf(seen.thumbnail, other)).toBe(404);
    // Repeats, because another frame may come in between.
    await waitUntil(async () => {
      const etag = (await frame()).headers.get('etag')!;
      return (await statusOf(seen.thumbnail, { headers: { 'if-none-match': etag } })) === 304;
    });
    await waitUntil(async () => !(await frame()).body.equals(first.body), {
      what: 'another frame',
      everyMs: 500,
    });

    await watch.stop();
    expect(await watch.brokenRules()).toEqual([]);
    expect(watch.segments.size).toBeGreaterThan(2);

    await server.api('PATCH', `/live-streams/${stream.liveStreamId}`, { public: true });
    await waitUntil(async () => (await statusOf(watch.mediaUrl)) === 404, { what: 'the end of its token' });
    expect(await statusOf(`${server.baseUrl}/${stream.liveStreamId}/thumbnail.jpg`)).toBe(200);
    await server.api('PATCH', `/live-streams/${stream.liveStreamId}`, { public: false });
    await waitUntil(async () => (await statusOf(watch.mediaUrl)) === 200, { what: 'its token again' });
    await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    const last = await fetch(spare.thumbnail);
    expect(last.headers.get('etag')).not.toBe('"placeholder"');
  });

  it('shows thumbnails of the outdated ffmpeg, none wider than 1280 pixels', async () => {
    await using server = await startServer({ 'ffmpeg.path': outdatedFfmpeg });
    const stream = await privateStream(server);
    const { thumbnail } = await stream.assets();
    await using _ = publishTestPicture({ url: server.rtmpUrl(stream.streamKey), size: '1600x1200', fps: 5 });
    await waitUntil(async () => (await fetch(thumbnail)).headers.get('etag') !== '"placeholder"', {
      what: 'a frame',
      everyMs: 200,
    });
    const image = Buffer.from(await (await fetch(thumbnail)).arrayBuffer());
    expect(await shapeOf(image)).toBe('mjpeg,1280,960,1:1,1');
  });
});

async function get(url: string, headers: Record<string, string> = {}) {
  const answer = await fetch(url, { headers });
  return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
}

async function listOf(url: string) {
  const { status, body } = await get(url);
  return status === 200 ? parseMediaPlaylist(body.toString()) : undefined;
}

function filesOf(server: TestServer, liveStreamId: string): Promise<string[]> {
  return readdir(join(server.dataDir, 'live', liveStreamId), { recursive: true }).catch(() => []);
}

// Runs concurrently: it mostly waits, as those above do.
describe.concurrent('a segment that left the memory', () => {
  it('is read from disk with the same bytes and headers, is complete after the end, and is removed with the stream', async () => {
    await using server = await startServer({ 'live.window': '6s', 'live.segmentTarget': '1s' });
    const { liveStreamId, streamKey } = await server.createStream();
    await using _ = publishTestPicture({
      url: server.rtmpUrl(streamKey),
      gopSeconds: 1,
      size: '160x90',
    });
    const watch = await StreamMonitor.begin(`${server.baseUrl}/${liveStreamId}.m3u8`);
    const { mediaUrl } = watch;
    await watch.until(({ segments }) => segments.has(3), 'the first segments');
    const [number] = [...watch.segments.keys()].filter(sequence => !watch.segments.get(sequence)!.gap);
    const { uri } = watch.segments.get(number!)!;
    const address = new URL(uri, mediaUrl).href;
    const live = await get(address);
    const files = await filesOf(server, liveStreamId);
    expect(files.filter(name => name.endsWith('.m4s'))).toHaveLength(1);
    // Waits until the segment left the memory, which holds two.
    await watch.until(({ newestMsn }) => newestMsn >= number! + 12, 'a segment that is in memory no more');
    await watch.stop();
    expect(await watch.brokenRules()).toEqual([]);

    const stored = await get(address);
    expect(stored.body.equals(live.body)).toBe(true);
    for (const name of ['content-type', 'content-length', 'etag', 'cache-control', 'accept-ranges']) {
      expect(stored.headers.get(name), name).toBe(live.headers.get(name));
    }
    expect((await get(address, { 'if-none-match': stored.headers.get('etag')! })).status).toBe(304);
    const range = await get(address, { range: 'bytes=100-299' });
    expect(range).toMatchObject({ status: 206, body: live.body.subarray(100, 300) });
    const head = await fetch(address, { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe(String(live.body.length));

    await server.api('PUT', `/live-streams/${liveStreamId}/complete`);
    const ended = await waitUntil(async () => {
      const list = await listOf(mediaUrl);
      return list?.endList ? list : undefined;
    });
    expect(ended.segments.length).toBeGreaterThan(12);
    for (const segment of ended.segments) {
      const { status } = await get(new URL(segment.uri, mediaUrl).href);
      expect(status, segment.uri).toBe(segment.gap ? 404 : 200);
    }

    expect((await server.api('DELETE', `/live-streams/${liveStreamId}`)).status).toBe(204);
    await waitUntil(async () => (await filesOf(server, liveStreamId)).every(name => !name.endsWith('.m4s')));
    for (const url of [address, mediaUrl]) expect((await get(url)).status).toBe(404);
  });
});
