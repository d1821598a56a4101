import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { embeddedFfmpeg, ffprobePath, publishTestPicture, runToEnd } from '../support/ffmpeg.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamWatch } from '../support/stream-watch.ts';
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
    return (await runToEnd(ffprobePath, words)).trim();
  } finally {
    await removeDir(folder);
  }
}

const other = { headers: { 'user-agent': 'another browser' } };
const statusOf = async (url: string, init: RequestInit = {}) => (await fetch(url, init)).status;

describe.concurrent('a private live stream', { timeout: 60_000 }, () => {
  it('plays for who has its token, and shows a frame that changes', async () => {
    await using server = await startServer();
    const stream = await privateStream(server);
    const [watched, seen, spare] = [await stream.assets(), await stream.assets(), await stream.assets()];
    await using _ = publishTestPicture({ url: server.rtmpUrl(stream.streamKey) });
    const watch = await StreamWatch.begin(watched.hls);
    expect(watch.mediaUrl).toMatch(/\/private\/[0-9a-f-]{36}\/li\w{22}\/avh-[\w-]{43}\/br\w+\/source\/index/);
    expect(await statusOf(watched.hls, other)).toBe(404);
    // The address in the playlist has the session in it; the token alone is not enough.
    expect(await statusOf(watch.mediaUrl.replace(/avh-[\w-]+\//, ''), other)).toBe(404);
    expect(await statusOf(`${server.baseUrl}/${stream.liveStreamId}.m3u8`)).toBe(404);

    const frame = async () => {
      const response = await fetch(seen.thumbnail);
      return { headers: response.headers, body: Buffer.from(await response.arrayBuffer()) };
    };
    const first = await frame();
    expect([...['content-type', 'cache-control'].map(name => first.headers.get(name))]).toEqual([
      ...['image/jpeg', 'private, max-age=10'],
    ]);
    expect(await shapeOf(first.body)).toBe('mjpeg,320,180,1:1,1');
    expect(await statusOf(seen.thumbnail, other)).toBe(404);
    expect(await statusOf(seen.thumbnail, { headers: { 'if-none-match': first.headers.get('etag')! } })).toBe(
      304,
    );
    await waitUntil(async () => !(await frame()).body.equals(first.body), {
      what: 'another frame',
      timeoutMs: 30_000,
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

  it('shows frames of the embedded ffmpeg too, none wider than 1280 pixels', async () => {
    await using server = await startServer({ 'ffmpeg.path': embeddedFfmpeg });
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
