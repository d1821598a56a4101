import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CreatedStream } from '../../scripts/server-process.ts';
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
let stop: () => Promise<void>;
beforeAll(async () => {
  server = await startServer({ 'whep.maxViewers': '1' });
  stream = await server.createStream();
  await server.api('PATCH', `/live-streams/${stream.liveStreamId}`, { ultraLowLatency: true });
  const tags = await recordTags({ seconds: 30, extraArgs: ['-an', '-bf', '0'] });
  const client = await RtmpClient.connect({ port: server.app.rtmpPort });
  await client.publish(stream.streamKey);
  const signal = new AbortController();
  const sent = replay(client, tags, { signal: signal.signal });
  stop = async () => {
    signal.abort();
    await sent;
    await client.close();
  };
});
afterAll(async () => {
  await stop?.();
  await server?.stop();
});

async function watch(path: string, body = offer, contentType = 'application/sdp') {
  const response = await fetch(`${server.baseUrl}${path}`, {
    ...{ method: 'POST', headers: { 'content-type': contentType }, body },
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
  const second = await watch(`/whep/${stream.liveStreamId}`);
  expect(second.status).toBe(503);
  expect(second.headers.get('retry-after')).toBe('10');
  expect(second.text).toContain('as many WebRTC viewers as are allowed');
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
    [503, 'Nothing is being broadcast', `/whep/${idle.liveStreamId}`],
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

test('a private live stream needs its token', async () => {
  const path = `/live-streams/${stream.liveStreamId}`;
  const changed = await server.api('PATCH', path, { public: false });
  const { assets } = (await changed.json()) as { assets: { player: string } };
  expect((await watch(`/whep/${stream.liveStreamId}`)).status).toBe(404);
  const { search } = new URL(assets.player);
  expect((await watch(`/whep/${stream.liveStreamId}${search}`)).status).toBe(201);
});
