import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { PublishDecision, PublishRequest } from '../../src/ingest/publish-gate.ts';
import { RtmpServer } from '../../src/ingest/rtmp/rtmp-server.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { encodeAmf0 } from '../support/amf0.ts';
import {
  acceptInto,
  frameBody,
  goodKey,
  type IngestFixture,
  type RecordedPublisher,
  recordingGate,
  startIngest,
} from '../support/ingest-client.ts';
import { RtmpClient, writeChunks } from '../support/rtmp-client.ts';
import { waitUntil } from '../support/wait-until.ts';

// One test per defect of node-media-server: each ends its process, leaks or misleads.

const ingests: IngestFixture[] = [];
const clients: RtmpClient[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  for (const ingest of ingests.splice(0)) await ingest.server.stop();
});

async function open(options: Parameters<typeof startIngest>[0] = {}): Promise<IngestFixture> {
  const ingest = await startIngest(options);
  ingests.push(ingest);
  return ingest;
}

async function connect(
  ingest: IngestFixture,
  options: Partial<Parameters<typeof RtmpClient.connect>[0]> = {},
) {
  const client = await RtmpClient.connect({ port: ingest.port, ...options });
  clients.push(client);
  return client;
}

async function completeHandshake(ingest: IngestFixture): Promise<RtmpClient> {
  const client = await RtmpClient.open({ port: ingest.port });
  clients.push(client);
  await client.shakeHands();
  return client;
}

const video = Buffer.from([0x17, 1, 0, 0, 0, 1, 2, 3]);
const command = (payload: Buffer) => ({ type: 20, payload });

// A packet from anyone, before any key is asked for.
test.each([
  ['a bad tcUrl', { tcUrl: 'no url at all' }],
  ['an empty tcUrl', { tcUrl: '' }],
  ['no tcUrl', { connectFields: { tcUrl: undefined } }],
  ['tcUrl of another type', { connectFields: { tcUrl: 5 } }],
])('connect with %s is as good as any', async (_what, options) => {
  const ingest = await open();
  const client = await connect(ingest, options);
  expect(await client.publish(goodKey)).toMatchObject({ code: 'NetStream.Publish.Start' });
});

const badPackets: [string, (client: RtmpClient) => void][] = [
  [
    'a cut off connect',
    client => client.sendMessage(command(encodeAmf0('connect', 1, { app: 's' }).subarray(0, -7))),
  ],
  ['a command before connect', client => client.sendMessage(command(encodeAmf0('createStream', 2, null)))],
  ['an unknown AMF type', client => client.sendMessage(command(Buffer.from([0x42, 1, 2])))],
  [
    'a command named like a property of every object',
    client => client.sendMessage(command(encodeAmf0('constructor', 1))),
  ],
  [
    'a nesting bomb',
    client => {
      const level = Buffer.from([0x0a, 0, 0, 0, 1]);
      client.sendMessage(command(Buffer.concat([encodeAmf0('connect', 1), ...Array(3_200).fill(level)])));
    },
  ],
  ['a long command', client => client.sendMessage(command(encodeAmf0('connect', 1, 'x'.repeat(60_000))))],
  ['a short Set Chunk Size', client => client.sendMessage({ type: 1, payload: Buffer.alloc(3) })],
  ['a chunk size of 0', client => client.sendMessage({ type: 1, payload: Buffer.alloc(4) })],
  [
    'a short Window Acknowledgement Size',
    client => client.sendMessage({ type: 5, payload: Buffer.alloc(1) }),
  ],
  ['a short User Control', client => client.sendMessage({ type: 4, payload: Buffer.alloc(1) })],
  [
    'a Ping Request without its time',
    client => client.sendMessage({ type: 4, payload: Buffer.from([0, 6, 1]) }),
  ],
  ['an empty command', client => client.sendMessage(command(Buffer.alloc(0)))],
  ['data over 256 KiB', client => client.sendMessage({ type: 18, payload: Buffer.alloc(256 * 1024 + 1) })],
];

test.each(badPackets)('%s costs that one connection, one line and one count', async (_what, send) => {
  const ingest = await open();
  const other = await connect(ingest);
  await other.publish(goodKey);
  const client = await completeHandshake(ingest);
  send(client);
  await client.closed();
  await waitUntil(() => ingest.counts.get('closed protocol-error') === 1);
  expect(ingest.log.filter(line => line.event === 'connection-failed')).toMatchObject([
    {
      level: 'info',
      data: { reason: 'protocol-error', remoteAddress: '127.0.0.1', error: expect.any(String) },
    },
  ]);
  other.sendTag('video', 0, video);
  await waitUntil(() => ingest.publishers[0]?.tags.length === 1);
});

test('connect without a command object is answered, and its publish refused in words', async () => {
  const ingest = await open();
  const client = await completeHandshake(ingest);
  client.sendMessage(command(encodeAmf0('connect', 1)));
  client.sendPublish(goodKey);
  expect(await client.nextStatus()).toMatchObject({ code: 'NetStream.Publish.BadName' });
});

test('publish without a name is refused in words', async () => {
  const ingest = await open();
  const client = await connect(ingest);
  client.sendMessage({ ...command(encodeAmf0('publish', 5, null)), messageStreamId: 1 });
  expect(await client.nextStatus()).toEqual({
    level: 'error',
    code: 'NetStream.Publish.BadName',
    description: "The stream key is missing. Enter it in your encoder's settings.",
  });
  await client.closed();
});

test('audio and video of no length are left out and counted', async () => {
  const ingest = await open();
  const client = await connect(ingest);
  await client.publish(goodKey);
  client.sendTag('video', 0, Buffer.alloc(0));
  client.sendTag('audio', 0, Buffer.alloc(0));
  client.sendTag('video', 40, video);
  await waitUntil(() => ingest.publishers[0]?.tags.length === 1);
  expect(ingest.publishers[0]?.tags).toEqual([{ kind: 'video', timestampMs: 40, body: video }]);
  await client.close();
  await waitUntil(() => ingest.log.some(line => line.event === 'publisher-closed'));
  expect(ingest.log.find(line => line.event === 'publisher-closed')?.data).toMatchObject({
    events: 1,
    emptyMessages: 2,
  });
});

// Media of somebody who is not the accepted publisher.
test('only the accepted publisher brings media into a stream', async () => {
  const ingest = await open();
  const publisher = await connect(ingest);
  await publisher.publish(goodKey);

  const stranger = await connect(ingest);
  stranger.sendTag('video', 0, video);
  const refused = await connect(ingest);
  refused.sendPublish('wrong-key');
  refused.sendTag('video', 0, video);
  const player = await connect(ingest);
  player.sendCommand('play', goodKey);
  player.sendTag('video', 0, video);
  await refused.closed();
  await player.closed();
  await stranger.call('createStream');

  publisher.sendTag('video', 7, video);
  await waitUntil(() => ingest.publishers[0]?.tags.length === 1);
  expect(ingest.publishers[0]?.tags).toEqual([{ kind: 'video', timestampMs: 7, body: video }]);
  expect(ingest.publishers).toHaveLength(1);
});

// Publish.Start before the key is checked.
test('the encoder hears nothing before the gate has answered, and loses no media meanwhile', async () => {
  const answer = Promise.withResolvers<void>();
  const publishers: RecordedPublisher[] = [];
  const gate = {
    request: async (
      request: PublishRequest,
      connection: RecordedPublisher['connection'],
    ): Promise<PublishDecision> => {
      await answer.promise;
      return acceptInto(publishers, request, connection);
    },
  };
  const ingest = await open({ gate });
  const client = await connect(ingest);
  await client.call('createStream');
  client.sendPublish(goodKey);
  const bodies = Array.from({ length: 400 }, (_, index) => frameBody(5_000, index));
  for (const [index, body] of bodies.entries()) client.sendTag('video', index, body);
  const other = await connect(ingest);
  await other.roundTrips(300);
  // Fewer bytes are here than a few reads brought, of the 2 MB that were sent.
  expect(ingest.bytesIn()).toBeLessThan(256 * 1024);
  expect(client.commands('onStatus')).toEqual([]);

  answer.resolve();
  expect(await client.nextStatus()).toMatchObject({ level: 'status', code: 'NetStream.Publish.Start' });
  await waitUntil(() => publishers[0]?.tags.length === bodies.length);
  expect(publishers[0]?.tags.map(tag => tag.timestampMs)).toEqual([...bodies.keys()]);
  expect(publishers[0]?.tags.every((tag, index) => tag.body.equals(bodies[index]!))).toBe(true);
});

test('a refused publish gets a status, then the end, and one line without the key', async () => {
  const ingest = await open();
  const client = await connect(ingest, { connectFields: { flashVer: 'OBS/31.0' } });
  expect(await client.publish('wrong-key-0123456789')).toEqual({
    level: 'error',
    code: 'NetStream.Publish.BadName',
    description: 'The stream key is not known.',
  });
  await client.closed();
  expect(client.commands('onStatus')).toHaveLength(1);
  expect(ingest.log.filter(line => line.event === 'publish-refused')).toMatchObject([
    {
      level: 'warn',
      data: { reason: 'unknown-key', streamKey: 'wron…', remoteAddress: '127.0.0.1', encoder: 'OBS/31.0' },
    },
  ]);
  expect(JSON.stringify(ingest.log)).not.toContain('wrong-key');
  expect(ingest.counts.get('refused unknown-key')).toBe(1);
});

test('a refused peer that neither reads nor closes is dropped soon', async () => {
  const ingest = await open();
  const client = await connect(ingest);
  client.socket.pause();
  client.sendPublish('wrong-key');
  await waitUntil(() => ingest.counts.get('closed publish-refused') === 1);
});

test('a gate that throws is a refusal, not the end of the process', async () => {
  const ingest = await open({
    gate: {
      request() {
        throw new Error('the gate is broken');
      },
    },
  });
  const client = await connect(ingest);
  expect(await client.publish(goodKey)).toMatchObject({ level: 'error', code: 'NetStream.Publish.BadName' });
  expect(ingest.counts.get('refused gate-failed')).toBe(1);
});

// A duplicate publisher, and an end that is told 30 s late.
test('every publish is checked by the gate, and its end is reported once and at once', async () => {
  const ingest = await open();
  const first = await connect(ingest);
  await first.publish(goodKey);
  const second = await connect(ingest);
  await second.publish(goodKey);
  expect(ingest.publishers.map(publisher => publisher.request.streamKey)).toEqual([goodKey, goodKey]);
  first.destroy();
  await waitUntil(() => ingest.publishers[0]?.closeReasons.length === 1);
  expect(ingest.publishers[1]?.closeReasons).toEqual([]);
  second.sendTag('video', 0, video);
  await waitUntil(() => ingest.publishers[1]?.tags.length === 1);
});

// Players that are written to without bound.
test('play is refused with a word about HLS', async () => {
  const ingest = await open();
  const client = await connect(ingest);
  await client.call('createStream');
  client.sendCommand('play', goodKey);
  expect(await client.nextStatus()).toMatchObject({
    level: 'error',
    code: 'NetStream.Play.Failed',
    description: expect.stringContaining('HLS'),
  });
  await client.closed();
  expect(ingest.counts.get('refused play')).toBe(1);
});

test('a peer that does not read its answers is cut off', async () => {
  // The system may keep tens of megabytes for a connection.
  const ingest = await open({ maxMessageRate: 1_000_000 });
  const client = await connect(ingest);
  client.socket.pause();
  const calls = Buffer.concat(
    Array.from({ length: 2_000 }, () => writeChunks(command(encodeAmf0('nonsense', 9, null)), 4_096)),
  );
  const timer = setInterval(() => client.socket.writableNeedDrain || client.sendRaw(calls), 1);
  try {
    await waitUntil(() => ingest.counts.get('closed slow-reader') === 1);
  } finally {
    clearInterval(timer);
  }
});

// A failed listen that exits, a run() that starts much else, one global context.
test('a port that is taken rejects the start with one clear sentence', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await waitUntil(() => taken.listening);
  const port = (taken.address() as { port: number }).port;
  const options = {
    host: '127.0.0.1',
    maxConnections: 1,
    handshakeTimeoutMs: 1_000,
    gateTimeoutMs: 1_000,
    idleTimeoutMs: 1_000,
    maxMessageBytes: 1_000,
    maxMessageRate: 2000,
    gate: recordingGate([]),
    log: silentLogger,
  };
  const server = new RtmpServer({ ...options, rtmpPort: port });
  await expect(server.start()).rejects.toMatchObject({
    code: 'listen-failed',
    message: expect.stringContaining(`RTMP port ${port} is already in use`),
  });
  await server.stop();
  taken.close();
});

test('the global context of the library is not even loaded', async () => {
  const ingest = await open();
  const client = await connect(ingest);
  await client.publish(goodKey);
  const loaded = Object.keys(createRequire(import.meta.url).cache).filter(path =>
    path.includes('node-media-server'),
  );
  expect(loaded.some(path => path.endsWith('protocol/rtmp.js'))).toBe(true);
  expect(loaded.filter(path => /context|broadcast_server|session/.test(path))).toEqual([]);
});

// No limits of time, number or size.
test('a peer that says nothing, or half a handshake, is closed in time', async () => {
  const ingest = await open({ handshakeTimeoutMs: 200 });
  const silent = await RtmpClient.open({ port: ingest.port });
  const half = await RtmpClient.open({ port: ingest.port });
  clients.push(silent, half);
  half.sendRaw(Buffer.concat([Buffer.from([3]), Buffer.alloc(700)]));
  await Promise.all([silent.closed(), half.closed()]);
  await waitUntil(() => ingest.counts.get('closed handshake-timeout') === 2);
});

test('a peer that connects and does not publish is closed in time', async () => {
  const ingest = await open({ handshakeTimeoutMs: 200 });
  const client = await connect(ingest);
  await client.closed();
  await waitUntil(() => ingest.counts.get('closed publish-timeout') === 1);
});

test('a gate that never answers does not keep the connection, and a late approval closes the sink', async () => {
  const answer = Promise.withResolvers<void>();
  const publishers: RecordedPublisher[] = [];
  const ingest = await open({
    gateTimeoutMs: 200,
    gate: {
      async request(request, connection) {
        await answer.promise;
        return acceptInto(publishers, request, connection);
      },
    },
  });
  const client = await connect(ingest);
  client.sendPublish(goodKey);
  await client.closed();
  answer.resolve();
  await waitUntil(() => publishers[0]?.closeReasons.length === 1);
  expect(publishers[0]?.closeReasons).toEqual(['ended-by-server']);
  expect(ingest.counts.get('publisher-opened')).toBeUndefined();
});

test('a publisher that sends nothing for too long is closed', async () => {
  const ingest = await open({ idleTimeoutMs: 300 });
  const client = await connect(ingest);
  await client.publish(goodKey);
  await client.closed();
  expect(ingest.publishers[0]?.closeReasons).toEqual(['idle-timeout']);
});

test('a publisher that the receiver has paused is not idle', async () => {
  const ingest = await open({ idleTimeoutMs: 200 });
  const client = await connect(ingest);
  await client.publish(goodKey);
  const publisher = ingest.publishers[0]!;
  publisher.connection.pause();
  const other = await connect(ingest);
  await other.publish(`${goodKey}-2`);
  await other.closed();
  expect(publisher.closeReasons).toEqual([]);
  publisher.connection.resume();
  client.sendTag('video', 1, video);
  await waitUntil(() => publisher.tags.length === 1);
});

test('connections beyond the limit are closed at once and counted', async () => {
  const ingest = await open({ maxConnections: 2 });
  await connect(ingest);
  await connect(ingest);
  const third = await RtmpClient.open({ port: ingest.port });
  clients.push(third);
  await third.closed();
  expect(ingest.counts.get('refused too-many-connections')).toBe(1);
  clients[0]?.destroy();
  await waitUntil(() => [...ingest.counts.keys()].some(what => what.startsWith('closed')));
  await connect(ingest);
});

test('a message over the limit ends the connection before it is received', async () => {
  const ingest = await open({ maxMessageBytes: 100_000 });
  const client = await connect(ingest);
  await client.publish(goodKey);
  client.sendTag('video', 0, frameBody(100_000));
  await waitUntil(() => ingest.publishers[0]?.tags.length === 1);
  client.sendRaw(
    writeChunks(
      { type: 9, payload: Buffer.alloc(100_001), messageStreamId: 1, chunkStreamId: 6 },
      4_096,
    ).subarray(0, 100),
  );
  await client.closed();
  expect(ingest.publishers[0]?.closeReasons).toEqual(['protocol-error']);
});

test.each([
  ['FCUnpublish', (client: RtmpClient) => void client.sendCommand('FCUnpublish', goodKey)],
  ['deleteStream', (client: RtmpClient) => void client.sendCommand('deleteStream', client.messageStreamId)],
  [
    'closeStream',
    (client: RtmpClient) =>
      client.sendMessage({
        ...command(encodeAmf0('closeStream', 0, null)),
        messageStreamId: client.messageStreamId,
      }),
  ],
])('%s ends the publisher at once', async (_what, send) => {
  const ingest = await open();
  const client = await connect(ingest);
  await client.publish(goodKey);
  client.sendTag('video', 0, video);
  send(client);
  client.sendTag('video', 40, video);
  expect(await client.nextStatus()).toMatchObject({ code: 'NetStream.Unpublish.Success' });
  expect(ingest.publishers[0]).toMatchObject({ closeReasons: ['unpublished'] });
  expect(ingest.publishers[0]?.tags).toHaveLength(1);
});
