import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { frameBody, goodKey, type IngestFixture, startIngest } from '../support/ingest-client.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { makeSelfSigned, type SelfSigned } from '../support/self-signed.ts';
import { waitUntil } from '../support/wait-until.ts';

const ingests: IngestFixture[] = [];
const clients: RtmpClient[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  for (const ingest of ingests.splice(0)) await ingest.server.stop();
});

async function open(
  secureContext: () => SelfSigned,
  { onChange, ...limits }: { onChange?: (listener: () => void) => void; handshakeTimeoutMs?: number } = {},
) {
  const rtmps = { port: 0, secureContext, onChange };
  const ingest = await startIngest({ rtmps, handshakeTimeoutMs: 60_000, ...limits });
  ingests.push(ingest);
  return { ingest, port: ingest.server.rtmpsPort! };
}

async function connectTls(port: number): Promise<RtmpClient> {
  const client = await RtmpClient.connect({ port, tls: true });
  clients.push(client);
  return client;
}

const nameOf = (client: RtmpClient) => (client.socket as TLSSocket).getPeerCertificate().subject.CN;

test('a stream comes in over TLS, large messages and all', async () => {
  const { ingest, port } = await open(() => makeSelfSigned('one'));
  const client = await connectTls(port);
  expect(await client.publish(goodKey)).toMatchObject({ code: 'NetStream.Publish.Start' });
  expect(ingest.publishers[0]?.request).toMatchObject({ protocol: 'rtmps', remoteAddress: '127.0.0.1' });
  const body = frameBody(700_000, 7);
  client.sendTag('video', 1, body);
  await waitUntil(() => ingest.publishers[0]?.tags.length === 1);
  expect(ingest.publishers[0]?.tags[0]?.body.equals(body)).toBe(true);
  await client.close();
  await waitUntil(() => ingest.counts.has('closed connection-closed'));
  expect(ingest.publishers[0]?.closeReasons).toEqual(['unpublished']);
});

test('a receiver that pauses holds a publisher on TLS as well, and loses nothing', async () => {
  const { ingest, port } = await open(() => makeSelfSigned('one'));
  const client = await connectTls(port);
  await client.publish(goodKey);
  const publisher = ingest.publishers[0]!;
  publisher.connection.pause();
  const before = publisher.connection.bytesIn;
  for (let index = 0; index < 2_000; index += 1) client.sendTag('video', index, frameBody(10_000));
  await (await connectTls(port)).roundTrips(300);
  expect(publisher.connection.bytesIn - before).toBeLessThanOrEqual(64 * 1024);
  expect(publisher.tags).toEqual([]);
  publisher.connection.resume();
  await waitUntil(() => publisher.tags.length === 2_000);
});

test('a certificate that changes is served to new connections; a bad one is not taken', async () => {
  let current = makeSelfSigned('one');
  let changed = () => {};
  const { ingest, port } = await open(() => current, {
    onChange: listener => {
      changed = listener;
    },
  });
  const first = await connectTls(port);
  expect(nameOf(first)).toBe('one');
  current = makeSelfSigned('two');
  changed();
  const second = await connectTls(port);
  expect(nameOf(second)).toBe('two');
  current = { cert: 'no certificate', key: 'no key' };
  changed();
  expect(nameOf(await connectTls(port))).toBe('two');
  expect(ingest.log.map(line => line.event)).toContain('certificate-reload-failed');
  expect(await first.publish(goodKey)).toMatchObject({ code: 'NetStream.Publish.Start' });
});

test('a bad certificate rejects the start', async () => {
  await expect(open(() => ({ cert: 'no certificate', key: 'no key' }))).rejects.toMatchObject({
    code: 'tls-unusable',
  });
});

test('connections without TLS or with an incomplete handshake are closed and counted', async () => {
  const { ingest, port } = await open(() => makeSelfSigned('one'), { handshakeTimeoutMs: 1_000 });
  const plain = connectTcp(port, '127.0.0.1').on('error', () => {});
  plain.write(Buffer.alloc(1_537, 3));
  plain.resume();
  const half = connectTcp(port, '127.0.0.1').on('error', () => {});
  half.write(Buffer.from('160301', 'hex'));
  half.resume();
  const silent = connectTcp(port, '127.0.0.1').on('error', () => {});
  silent.resume();
  const gone = connectTcp(port, '127.0.0.1').on('error', () => {});
  gone.end();
  gone.resume();
  await Promise.all([plain, half, silent, gone].map(socket => once(socket, 'close')));
  await waitUntil(() => ingest.counts.get('opened') === 4);
  const closed = () => [...ingest.counts].filter(([what]) => what.startsWith('closed'));
  await waitUntil(() => closed().reduce((sum, [, count]) => sum + count, 0) === 4);
  expect(ingest.counts.get('closed tls-failed')).toBe(1);
  expect(ingest.counts.get('closed handshake-timeout')).toBe(2);
  expect(ingest.log.filter(line => line.event === 'tls-failed')).toHaveLength(1);
  expect(await (await connectTls(port)).publish(goodKey)).toMatchObject({ code: 'NetStream.Publish.Start' });
});
