import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { CreatedStream } from '../../scripts/server-process.ts';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { recordTags, replay } from '../support/replay.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const offer = readFileSync(new URL('../fixtures/whip-offer.sdp', import.meta.url), 'utf8')
  .replace(/\r?\n/g, '\r\n')
  .replaceAll('a=sendonly', 'a=recvonly')
  .replaceAll('a=sendrecv', 'a=recvonly');

let server: TestServer;
let stream: CreatedStream;
let tags: FlvTag[];
let stop: () => Promise<void>;
beforeAll(async () => {
  server = await startServer({ 'whep.maxViewers': '1' });
  stream = await server.createStream();
  await server.api('PATCH', `/live-streams/${stream.liveStreamId}`, { ultraLowLatency: true });
  tags = await recordTags({ seconds: 30, extraArgs: ['-an', '-bf', '0'] });
  const client = await RtmpClient.connect({ port: server.app.rtmpPort });
  await client.publish(stream.streamKey);
  const signal = new AbortController();
  const sent = replay(client, tags, { signal: signal.signal });
  stop = async () => {
    signal.abort();
    await sent;
    await client.close();
  };
  // WebRTC viewers may begin before the first part of HLS is there.
  await waitUntil(async () => (await fetch(`${server.baseUrl}/${stream.liveStreamId}.m3u8`)).ok);
});
afterAll(async () => {
  await stop?.();
  await server?.stop();
});

async function watch(path: string, body = offer, contentType = 'application/sdp') {
  const response = await fetch(`${server.baseUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': contentType },
    body,
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function watching() {
  return waitUntil(async () => {
    const answer = await watch(`/whep/${stream.liveStreamId}`);
    return answer.status === 201 && answer;
  });
}

test('a viewer gets an answer that sends, up to the limit of the server, and may leave', async () => {
  const first = await watching();
  expect(first.text).toContain('a=sendonly');
  expect(first.text).toMatch(/a=ssrc:\d+ cname:broadcast/);
  expect(first.text).toContain('a=rtpmap:');
  expect(first.headers.get('access-control-expose-headers')).toContain('Millrace-Rewind');
  const rewind = /^seconds=([\d.]+), max=(\d+), storyboard="(.+)"$/.exec(
    first.headers.get('millrace-rewind')!,
  );
  const master = await (await fetch(`${server.baseUrl}/${stream.liveStreamId}.m3u8`)).text();
  const [, folder] = /(\S+\/)source\/index\.m3u8/.exec(master)!;
  expect(rewind?.slice(2)).toEqual(['3600', `${folder}storyboard/`]);
  expect(Number(rewind?.[1])).toBeGreaterThan(0);
  const second = await watch(`/whep/${stream.liveStreamId}`);
  expect(second.status).toBe(503);
  expect(second.headers.get('retry-after')).toBe('10');
  expect(second.text).toContain('reached the limit of WebRTC viewers');
  const session = new URL(first.headers.get('location')!, server.baseUrl);
  expect((await fetch(session, { method: 'DELETE' })).status).toBe(200);
  expect((await fetch(session, { method: 'DELETE' })).status).toBe(404);
  const third = await watching();
  await fetch(new URL(third.headers.get('location')!, server.baseUrl), { method: 'DELETE' });
});

test('refusals say what is wrong', async () => {
  await watching().then(({ headers }) =>
    fetch(new URL(headers.get('location')!, server.baseUrl), { method: 'DELETE' }),
  );
  const idle = await server.createStream();
  const path = `/whep/${stream.liveStreamId}`;
  const refusals: readonly [number, string, ...Parameters<typeof watch>][] = [
    [404, 'no live stream', `/whep/li${'0'.repeat(22)}`],
    [404, 'no live stream', '/whep/other'],
    [503, 'The live stream is offline', `/whep/${idle.liveStreamId}`],
    [415, 'application/sdp', path, offer, 'text/plain'],
    [400, 'SDP', path, 'nonsense'],
    [422, 'H.264', path, offer.replaceAll('H264', 'VP8')],
  ];
  for (const [status, text, ...request] of refusals) {
    const answer = await watch(...request);
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(text)]);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  }
  expect((await fetch(`${server.baseUrl}${path}`, { method: 'PATCH' })).status).toBe(405);
  expect((await fetch(`${server.baseUrl}${path}`, { method: 'OPTIONS' })).status).toBe(204);
});

test('the session takes candidates, and new credentials for another network', async () => {
  const { headers, text } = await watching();
  const session = new URL(headers.get('location')!, server.baseUrl);
  const etag = headers.get('etag')!;
  expect(headers.get('accept-patch')).toBe('application/trickle-ice-sdpfrag');
  const patch = async (body: string, more: Record<string, string>, method = 'PATCH') => {
    const fragment = { 'content-type': 'application/trickle-ice-sdpfrag' };
    return fetch(session, { method, body, headers: { ...fragment, ...more } });
  };
  const restart = `a=ice-ufrag:NewU\r\na=ice-pwd:${'p'.repeat(24)}\r\n`;
  const candidate = 'a=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n';
  expect((await patch(restart, {})).status).toBe(428);
  expect((await patch(restart, { 'if-match': '"other"' })).status).toBe(412);
  expect((await patch(restart, { 'if-match': etag, 'content-type': 'application/sdp' })).status).toBe(415);
  expect((await patch(candidate, { 'if-match': etag })).status).toBe(204);
  const put = await patch(restart, { 'if-match': etag }, 'PUT');
  expect([put.status, put.headers.get('allow')]).toEqual([405, 'POST, PATCH, DELETE, OPTIONS']);
  const restarted = await patch(restart, { 'if-match': '*' });
  expect(restarted.status).toBe(200);
  expect(await restarted.text()).not.toContain(/a=ice-ufrag:\S+/.exec(text)![0]);
  expect((await patch(candidate, { 'if-match': etag })).status).toBe(412);
  expect((await patch(candidate, { 'if-match': restarted.headers.get('etag')! })).status).toBe(204);
  await fetch(session, { method: 'DELETE' });
  expect((await patch(candidate, { 'if-match': '*' })).status).toBe(404);
});

test('a live stream that turns ultra low latency off takes no viewers, at once', async () => {
  const path = `/live-streams/${stream.liveStreamId}`;
  await server.api('PATCH', path, { ultraLowLatency: false });
  const refused = await watch(`/whep/${stream.liveStreamId}`);
  expect([refused.status, refused.text]).toEqual([406, expect.stringContaining('Turn on ultra low latency')]);
  await server.api('PATCH', path, { ultraLowLatency: true });
  const { headers } = await watching();
  await fetch(new URL(headers.get('location')!, server.baseUrl), { method: 'DELETE' });
});

test('a private live stream needs its token', async () => {
  const path = `/live-streams/${stream.liveStreamId}`;
  const changed = await server.api('PATCH', path, { public: false });
  const { assets } = (await changed.json()) as { assets: { player: string } };
  expect((await watch(`/whep/${stream.liveStreamId}`)).status).toBe(404);
  const { search } = new URL(assets.player);
  const wrong = search.replace(/token=\w+/, 'token=to0000000000000000000000');
  expect(wrong).not.toBe(search);
  expect((await watch(`/whep/${stream.liveStreamId}${wrong}`)).status).toBe(404);
  // A request that is refused leaves the token unused: it is still another viewer's, from another program.
  expect((await watch(`/whep/${stream.liveStreamId}${search}`, 'nonsense')).status).toBe(400);
  expect((await watch(`/whep/${stream.liveStreamId}${search}`, offer, 'text/plain')).status).toBe(415);
  const withAgent = (agent: string) =>
    fetch(`${server.baseUrl}/whep/${stream.liveStreamId}${search}`, {
      method: 'POST',
      headers: { 'content-type': 'application/sdp', 'user-agent': agent },
      body: offer,
    });
  const watched = await withAgent('another program');
  expect(watched.status).toBe(201);
  expect((await withAgent('a third one')).status).toBe(404);
  const session = new URL(watched.headers.get('location')!, server.baseUrl);
  expect((await fetch(session, { method: 'PATCH' })).status).toBe(415);
  // The session ends with the broadcast.
  await server.api('PUT', `${path}/complete`);
  await waitUntil(async () => (await fetch(session, { method: 'PATCH' })).status === 404);
});

/** A viewer of a broadcast on a server of its own. */
async function startViewer() {
  const own = await startServer();
  onTestFinished(() => own.stop());
  const { liveStreamId, streamKey } = await own.createStream();
  const path = `/live-streams/${liveStreamId}`;
  await own.api('PATCH', path, { ultraLowLatency: true });
  const client = await RtmpClient.connect({ port: own.app.rtmpPort });
  await client.publish(streamKey);
  const ending = new AbortController();
  onTestFinished(async () => {
    ending.abort();
    await client.close();
  });
  void replay(client, tags, { signal: ending.signal }).catch(() => {});
  const open = async () =>
    fetch(`${own.baseUrl}/whep/${liveStreamId}`, {
      method: 'POST',
      headers: { 'content-type': 'application/sdp' },
      body: offer,
    });
  const first = await waitUntil(async () => {
    const answer = await open();
    return answer.status === 201 && answer;
  });
  const session = new URL(first.headers.get('location')!, own.baseUrl);
  const isWatching = async () => (await fetch(session, { method: 'PATCH' })).status !== 404;
  expect(await isWatching()).toBe(true);
  return { own, path, open, isWatching };
}

test.each<[string, (own: TestServer, path: string) => Promise<unknown>, number, string]>([
  ['the live stream is deleted', (own, path) => own.api('DELETE', path), 404, 'no live stream'],
  [
    'the account is suspended',
    async ({ dataDir }) => {
      const database = new Sqlite(join(dataDir, 'millrace.db'));
      database.exec('UPDATE accounts SET is_suspended = 1');
      database.close();
    },
    ...([503, 'The live stream is offline'] as const),
  ],
  ['the server is drained', own => own.app.empty(), 503, 'The live stream is offline'],
])('a viewer is gone, and nobody else may watch, when %s', async (_, change, status, text) => {
  const { own, path, open, isWatching } = await startViewer();
  await change(own, path);
  await waitUntil(async () => !(await isWatching()), { what: 'the end of the session' });
  const refused = await open();
  expect([refused.status, await refused.text()]).toEqual([status, expect.stringContaining(text)]);
});
