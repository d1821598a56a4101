import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseMediaPlaylist } from '../../src/hls/index.ts';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamWatch } from '../support/stream-watch.ts';
import { waitUntil } from '../support/wait-until.ts';

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

test('a segment that left the memory is fetched from the disk, byte for byte and with the same headers; after the end all of the list is there; a deletion takes it away', async () => {
  await using server = await startServer({ 'live.window': '6s', 'live.segmentTarget': '1s' });
  const { liveStreamId, streamKey } = await server.createStream();
  await using _ = publishTestPicture({
    url: server.rtmpUrl(streamKey),
    gopSeconds: 1,
    size: '160x90',
  });
  const watch = await StreamWatch.begin(`${server.baseUrl}/${liveStreamId}.m3u8`);
  const { mediaUrl } = watch;
  await watch.until(({ segments }) => segments.has(3), 'the first segments');
  const [number] = [...watch.segments.keys()].filter(sequence => !watch.segments.get(sequence)!.gap);
  const { uri } = watch.segments.get(number!)!;
  const address = new URL(uri, mediaUrl).href;
  const live = await get(address);
  // In memory are seven and a half target durations of 1 s.
  await watch.until(
    ({ newestMsn }) => newestMsn >= number! + 12,
    'a segment that is in memory no more',
    40_000,
  );
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
  expect((await filesOf(server, liveStreamId)).filter(name => name.endsWith('chunk-1.m4s'))).toHaveLength(1);

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
  await waitUntil(async () => (await filesOf(server, liveStreamId)).every(name => !name.includes('chunk')));
  for (const url of [address, mediaUrl]) expect((await get(url)).status).toBe(404);
});
