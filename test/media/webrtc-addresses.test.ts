import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CreatedStream } from '../../scripts/server-process.ts';
import { recordTags, replay } from '../support/replay.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type ClientPath, offerToWatch, WebRtcClient } from '../support/webrtc-client.ts';

let server: TestServer;
let stream: CreatedStream;
let url: string;
let stop: () => Promise<void>;
beforeAll(async () => {
  server = await startServer();
  stream = await server.createStream();
  url = `${server.baseUrl}/whep/${stream.liveStreamId}`;
  await server.api('PATCH', `/live-streams/${stream.liveStreamId}`, { ultraLowLatency: true });
  const tags = await recordTags({ seconds: 240, extraArgs: ['-an', '-bf', '0'] });
  const client = await RtmpClient.connect({ port: server.app.rtmpPort });
  await client.publish(stream.streamKey);
  const signal = new AbortController();
  const sent = replay(client, tags, { signal: signal.signal });
  stop = async () => {
    signal.abort();
    await sent;
    await client.close();
  };
  await waitUntil(async () => {
    const { status, location } = await offerToWatch(url);
    if (status === 201) await fetch(location, { method: 'DELETE' });
    return status === 201;
  });
});
afterAll(async () => {
  await stop?.();
  await server?.stop();
});

const open = () => WebRtcClient.watch(url, server.app.webrtcPort!);

/** Media arrives at `path`, or more than is allowed at `victim`. */
async function receivesMore(path: ClientPath, bytes: number, victim?: ClientPath): Promise<void> {
  const before = path.bytesIn;
  await waitUntil(
    () => path.bytesIn > before + bytes || (victim !== undefined && victim.bytesIn > 100 * victim.bytesOut),
    { what: () => `${bytes} more bytes after ${before}: ${path.bytesIn}` },
  );
}

async function watchFrom(address: string): Promise<{ viewer: WebRtcClient; path: ClientPath }> {
  const viewer = await open();
  const path = await viewer.pathAt(address, true);
  viewer.check(path);
  await viewer.startDtls(path);
  await receivesMore(path, 20_000);
  return { viewer, path };
}

test('media never goes to an address that has only been nominated, over UDP and TCP', async () => {
  const { viewer, path } = await watchFrom('127.0.0.1');
  const victims = [await viewer.pathAt('127.0.0.2', false), await viewer.pathOverTcp(false)];
  for (const victim of victims) {
    viewer.check(victim);
    await receivesMore(path, 100_000, victim);
    expect(victim.bytesIn).toBeLessThanOrEqual(3 * victim.bytesOut);
    // Repeated nominations of the address, and other packets, do not change that.
    for (let count = 0; count < 20; count++) {
      viewer.check(victim);
      victim.send(Buffer.alloc(60, 0x80));
      await receivesMore(path, 1_000, victim);
    }
    expect(victim.bytesIn).toBeLessThanOrEqual(3 * victim.bytesOut);
  }
  await fetch(viewer.session, { method: 'DELETE' });
});

test('a handshake is not answered at an address that answers no checks, and media follows one that does', async () => {
  const viewer = await open();
  const victim = await viewer.pathAt('127.0.0.2', false);
  viewer.check(victim);
  await viewer.startDtls(victim);
  // OpenSSL repeats its message.
  await waitUntil(() => victim.bytesOut > 500);
  expect(victim.bytesIn).toBeGreaterThan(0);
  expect(victim.bytesIn).toBeLessThanOrEqual(3 * victim.bytesOut);
  victim.answersChecks = true;
  viewer.check(victim);
  await receivesMore(victim, 20_000);
  const next = await viewer.pathAt('127.0.0.3', true);
  viewer.check(next);
  await receivesMore(next, 100_000);
  const tcp = await viewer.pathOverTcp(true);
  viewer.check(tcp);
  await receivesMore(tcp, 100_000);
  await fetch(viewer.session, { method: 'DELETE' });
});

test('somebody who repeats a request of the client from elsewhere can forge nothing of its handshake', async () => {
  const viewer = await open();
  const [path, other] = [await viewer.pathAt('127.0.0.1', true), await viewer.pathAt('127.0.0.2', false)];
  const [alert, message] = [Buffer.from([2, 40]), Buffer.from([11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])];
  const record = (type: number, body: Buffer) =>
    Buffer.concat([Buffer.from([type, 0xfe, 0xfd]), Buffer.alloc(9), Buffer.from([body.length]), body]);
  for (const isConnecting of [false, true]) {
    viewer.check(path);
    viewer.check(other);
    if (isConnecting) await viewer.startDtls(path);
    for (const forged of [record(21, alert), record(22, message)]) other.send(forged);
  }
  await receivesMore(path, 20_000);
  await fetch(viewer.session, { method: 'DELETE' });
});

test('packets with the credentials of another session do not take a path away', async () => {
  const { viewer, path } = await watchFrom('127.0.0.1');
  const other = await open();
  for (let count = 0; count < 5; count++) {
    other.check(path);
    other.check(path, { nominates: false });
    await receivesMore(path, 20_000);
  }
  // Nor before the client has connected.
  const late = await open();
  const latePath = await late.pathAt('127.0.0.4', true);
  other.check(latePath);
  late.check(latePath);
  other.check(latePath);
  await late.startDtls(latePath);
  await receivesMore(latePath, 20_000);
  for (const { session } of [viewer, other, late]) await fetch(session, { method: 'DELETE' });
});

test('one address cannot take all places with sessions that do not connect', async () => {
  const sessions: string[] = [];
  const refused = await waitUntil(async () => {
    const answer = await offerToWatch(url);
    if (answer.status === 201) sessions.push(answer.location);
    return answer.status !== 201 && answer;
  });
  expect(sessions.length).toBeLessThanOrEqual(16);
  expect([refused.status, refused.text]).toEqual([429, expect.stringContaining('have not connected')]);
  const elsewhere = await offerToWatch(url, '127.0.0.5');
  expect(elsewhere.status).toBe(201);
  await fetch(sessions[0]!, { method: 'DELETE' });
  const again = await offerToWatch(url);
  expect(again.status).toBe(201);
  for (const session of [...sessions, elsewhere.location, again.location])
    await fetch(session, { method: 'DELETE' });
});
