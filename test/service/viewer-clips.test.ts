import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CreatedStream } from '../../scripts/server-process.ts';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { recordTags, replay } from '../support/replay.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';

let server: TestServer;
let tags: FlvTag[];
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  [server, tags] = await Promise.all([startServer(), recordTags({ seconds: 120 })]);
});
afterAll(async () => {
  for (const stop of stops) await stop();
  await server?.stop();
});

async function broadcast(attributes: Record<string, unknown>, on = server): Promise<CreatedStream> {
  const stream = await on.createStream();
  await change(stream, attributes, on);
  const client = await RtmpClient.connect({ port: on.app.rtmpPort });
  await client.publish(stream.streamKey);
  const signal = new AbortController();
  const sent = replay(client, tags, { signal: signal.signal });
  stops.push(async () => {
    signal.abort();
    await sent;
    await client.close();
  });
  return stream;
}

async function change({ liveStreamId }: CreatedStream, attributes: Record<string, unknown>, on = server) {
  const changed = await on.api('PATCH', `/live-streams/${liveStreamId}`, attributes);
  expect(changed.status).toBe(200);
  return (await changed.json()) as { viewerClips?: boolean; assets: { player: string } };
}

async function send(
  path: string,
  body: unknown,
  { method = 'POST', type = 'application/json', on = server } = {},
) {
  const response = await fetch(`${on.baseUrl}${path}`, {
    method,
    headers: { 'content-type': type },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const json = (await response.json()) as { videoId: string; url: string; detail: string };
  return { status: response.status, headers: response.headers, json };
}

/** Waits until the broadcast has a segment. */
function clipWhenBegun(path: string, body: unknown = { lastSeconds: 5 }, on = server) {
  return waitUntil(
    async () => {
      const answer = await send(path, body, { on });
      return answer.status === 409 ? undefined : answer;
    },
    { what: 'media to clip' },
  );
}

test('a viewer makes the last seconds a video of the project, at most three times in a minute', async () => {
  const { playerId } = (await (await server.api('POST', '/players', {})).json()) as { playerId: string };
  const stream = await broadcast({ viewerClips: true, name: 'n'.repeat(1024), playerId });
  // Simulates many live streams that still name a deleted theme.
  const sqlite = new Sqlite(join(server.dataDir, 'millrace.db'));
  sqlite.exec(`DELETE FROM players; INSERT INTO removed_players (id) VALUES ('${playerId}')`);
  sqlite.close();
  const path = `/clips/${stream.liveStreamId}`;
  const { status, json, headers } = await clipWhenBegun(path);
  expect(status).toBe(201);
  expect(headers.get('access-control-allow-origin')).toBe('*');
  const video = (await (await server.api('GET', `/videos/${json.videoId}`)).json()) as object;
  expect(video).toMatchObject({
    title: `${'n'.repeat(1005)} (clip by a viewer)`,
    public: true,
    tags: ['viewer-clip'],
    source: { type: 'liveStream', clippedFrom: { liveStreamId: stream.liveStreamId } },
    assets: { player: json.url },
  });
  expect((await fetch(json.url)).status).toBe(200);

  expect((await send(path, { lastSeconds: 60, behindSeconds: 0.5 })).status).toBe(201);
  expect((await send(path, { lastSeconds: 30, behindSeconds: 3600 })).json.detail).toBe(
    'This part of the broadcast is no longer available.',
  );
  const fourth = await send(path, { lastSeconds: 5 });
  expect([fourth.status, fourth.json.detail]).toEqual([429, expect.stringContaining('another clip in')]);
  expect(Number(fourth.headers.get('retry-after'))).toBeGreaterThan(0);
});

test('the clip of a private live stream is private, and needs its token', async () => {
  const stream = await broadcast({ viewerClips: true, public: false });
  const path = `/clips/${stream.liveStreamId}`;
  expect((await send(path, { lastSeconds: 5 })).status).toBe(404);
  const { assets } = await change(stream, {});
  const { search } = new URL(assets.player);
  const { status, json } = await clipWhenBegun(`${path}${search}`);
  expect(status).toBe(201);
  const video = (await (await server.api('GET', `/videos/${json.videoId}`)).json()) as object;
  expect(video).toMatchObject({ public: false });
  expect(json.url).toContain('token');
  expect((await fetch(json.url)).status).toBe(200);
});

test('a clip that exceeds the storage of the project is refused, and leaves no file behind', async () => {
  const small = await startServer({ 'storage.maxPerProject': '1KiB' });
  const stream = await broadcast({ viewerClips: true }, small);
  stops.push(() => small.stop());
  const refused = await clipWhenBegun(`/clips/${stream.liveStreamId}`, { lastSeconds: 5 }, small);
  expect(refused).toMatchObject({
    status: 503,
    json: { detail: 'The server has no space for another clip of this live stream.' },
  });
  const { data } = (await (await small.api('GET', '/videos')).json()) as { data: unknown[] };
  expect(data).toEqual([]);
  const left = await readdir(join(small.dataDir, 'vod'), { recursive: true, withFileTypes: true });
  expect(left.filter(entry => entry.isFile())).toEqual([]);
});

test('refusals say what is wrong', async () => {
  const stream = await server.createStream();
  const path = `/clips/${stream.liveStreamId}`;
  const body = { lastSeconds: 30 };
  expect((await change(stream, { viewerClips: false })).viewerClips).toBeUndefined();
  expect(await send(path, body)).toMatchObject({
    status: 403,
    json: { detail: 'Viewer clips are turned off for this live stream.' },
  });
  expect((await change(stream, { viewerClips: true })).viewerClips).toBe(true);
  // The change may be seen a second later.
  const idle = await waitUntil(async () => {
    const answer = await send(path, body);
    return answer.status === 403 ? undefined : answer;
  });
  expect(idle).toMatchObject({ status: 409, json: { detail: expect.stringContaining('nothing to clip') } });
  expect(await send('/clips/li0000000000000000000000', body)).toMatchObject({ status: 404 });
  expect(await send('/clips/other', body)).toMatchObject({ status: 404 });
  expect(await send(path, body, { method: 'DELETE' })).toMatchObject({ status: 405 });
  expect((await fetch(`${server.baseUrl}${path}`, { method: 'OPTIONS' })).status).toBe(204);

  const live = await broadcast({ viewerClips: true });
  const livePath = `/clips/${live.liveStreamId}`;
  expect((await clipWhenBegun(livePath)).status).toBe(201);
  expect(await send(livePath, body, { type: 'text/plain' })).toMatchObject({ status: 415 });
  for (const wrong of [
    'nonsense',
    '[]',
    {},
    { lastSeconds: 61 },
    { lastSeconds: '30' },
    { ...body, more: 1 },
  ]) {
    expect(await send(livePath, wrong)).toMatchObject({
      status: 400,
      json: { detail: expect.stringContaining('lastSeconds') },
    });
  }
});
