import { afterEach, expect, test } from 'vitest';
import type { MediaEvent } from '../../src/media/samples/media-sample.ts';
import { encodeAmf0 } from '../support/amf0.ts';
import { frameBody, goodKey, type IngestFixture, startIngest } from '../support/ingest-client.ts';
import { tagOf } from '../support/media-samples.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { waitUntil } from '../support/wait-until.ts';

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

const video = Buffer.from([0x17, 1, 0, 0, 0, 1, 2, 3]);

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

test('a publisher is introduced to the gate and its tags come as they were sent', async () => {
  const ingest = await open();
  const client = await connect(ingest, {
    app: 'live',
    connectFields: { flashVer: 'FMLE/3.0', fourCcList: ['hvc1'] },
  });
  expect(await client.publish(`${goodKey}?bitrate=1`)).toMatchObject({ code: 'NetStream.Publish.Start' });
  const publisher = ingest.publishers[0]!;
  expect(publisher.request).toEqual({
    connectionId: expect.stringMatching(/^co/),
    protocol: 'rtmp',
    remoteAddress: '127.0.0.1',
    streamKey: goodKey,
    query: 'bitrate=1',
    encoder: 'FMLE/3.0',
    signal: expect.any(AbortSignal),
  });
  const enhanced = Buffer.from([0x91, ...Buffer.from('hvc1'), 0, 0, 3, 4]);
  client.sendTag('script', 0, encodeAmf0('@setDataFrame', 'onMetaData', { framerate: 30 }));
  client.sendTag('video', 0xffffffff, enhanced);
  client.sendTag('audio', 0x1000000, Buffer.from([0xaf, 1, 9]));
  client.sendTag('video', 5, frameBody(300_000, 7));
  await waitUntil(() => publisher.tags.length === 4);
  expect(publisher.tags).toEqual([
    { kind: 'script', timestampMs: 0, body: Buffer.alloc(0) },
    { kind: 'video', timestampMs: 0xffffffff, body: enhanced },
    { kind: 'audio', timestampMs: 0x1000000, body: Buffer.from([0xaf, 1, 9]) },
    { kind: 'video', timestampMs: 5, body: frameBody(300_000, 7) },
  ]);
  expect(publisher.declared).toMatchObject([{ framesPerSecond: 30 }]);
  expect(publisher.connection.bytesIn).toBe(ingest.bytesIn());
  await client.close();
  await waitUntil(() => publisher.closeReasons.length === 1);
  expect(publisher.closeReasons).toEqual(['unpublished']);
  await waitUntil(() => ingest.counts.has('closed connection-closed'));
  expect(Object.fromEntries(ingest.counts)).toEqual({
    opened: 1,
    'publisher-opened': 1,
    'publisher-closed unpublished': 1,
    'closed connection-closed': 1,
  });
});

test('the key may come with the app', async () => {
  const ingest = await open();
  const client = await connect(ingest, { app: `s/${goodKey}` });
  expect(await client.publish('')).toMatchObject({ code: 'NetStream.Publish.Start' });
  expect(ingest.publishers[0]?.request).toMatchObject({ streamKey: goodKey });
});

test('another app is refused in words', async () => {
  const ingest = await open();
  const client = await connect(ingest, { app: 'vod' });
  expect(await client.publish(goodKey)).toMatchObject({
    level: 'error',
    code: 'NetStream.Publish.BadName',
    description: expect.stringContaining('end in /s.'),
  });
  expect(ingest.counts.get('refused unknown-app')).toBe(1);
});

test('connect is answered with the Enhanced RTMP properties of the server and the object encoding', async () => {
  const ingest = await open();
  const client = await RtmpClient.open({ port: ingest.port });
  clients.push(client);
  await client.shakeHands();
  const capabilities = { fourCcList: ['hvc1', 'av01'], videoFourCcInfoMap: { hvc1: 4 } };
  const connectObject = { app: 's', objectEncoding: 3, ...capabilities };
  client.sendMessage({ type: 20, payload: encodeAmf0('connect', 1, connectObject) });
  await client.until(() => client.commands('_result').length === 1, 'the answer to connect');
  const [, , properties, info] = client.commands('_result')[0]!;
  expect(properties).toMatchObject({
    fourCcList: expect.arrayContaining(['hvc1', 'av01', 'Opus']),
    videoFourCcInfoMap: { avc1: 4, hvc1: 4, av01: 4 },
  });
  expect(info).toMatchObject({ code: 'NetConnection.Connect.Success', objectEncoding: 3 });
  // Sends commands and data in their AMF3 form, as such a peer does from here on, with a zero byte before.
  const asAmf3 = (...values: Parameters<typeof encodeAmf0>) =>
    Buffer.concat([Buffer.alloc(1), encodeAmf0(...values)]);
  client.sendMessage({ type: 17, payload: asAmf3('createStream', 2, null) });
  client.sendMessage({ type: 17, payload: asAmf3('publish', 3, null, goodKey, 'live'), messageStreamId: 1 });
  expect(await client.nextStatus()).toMatchObject({ code: 'NetStream.Publish.Start' });
  client.sendMessage({ type: 15, payload: asAmf3('onMetaData', { framerate: 25 }), messageStreamId: 1 });
  await waitUntil(() => ingest.publishers[0]?.declared.length === 1);
  expect(ingest.publishers[0]?.declared).toMatchObject([{ framesPerSecond: 25 }]);
});

test('every call is answered: known ones with a result, unknown ones with an error', async () => {
  const ingest = await open();
  const client = await connect(ingest);
  expect(await client.call('releaseStream', 'x')).toEqual([null]);
  expect(await client.call('FCPublish', 'x')).toEqual([null]);
  expect(client.commands('onFCPublish')[0]?.[3]).toMatchObject({
    code: 'NetStream.Publish.Start',
    description: 'x',
  });
  expect(await client.call('createStream')).toEqual([null, 1]);
  expect(await client.call('createStream')).toEqual([null, 2]);
  expect(await client.call('_checkbw')).toEqual([null]);
  expect(await client.call('getStreamLength', 'x')).toEqual([null, 0]);
  expect(await client.call('FCUnpublish', 'x')).toEqual([null]);
  await expect(client.call('noSuchThing')).rejects.toThrow('NetConnection.Call.Failed');
  await expect(client.call('toString')).rejects.toThrow('NetConnection.Call.Failed');
});

test('acknowledges as the window of the peer asks', async () => {
  const ingest = await open();
  const client = await connect(ingest);
  await client.publish(goodKey);
  client.sendMessage({ type: 5, payload: uint32(10_000), chunkStreamId: 2 });
  client.sendTag('video', 0, frameBody(10_000));
  const acknowledgement = await client.messageOfType(3);
  expect(acknowledgement.payload.readUInt32BE()).toBeGreaterThan(10_000);
  expect(acknowledgement.payload.readUInt32BE()).toBeLessThanOrEqual(ingest.bytesIn());
});

test('answers a ping with its own time', async () => {
  const ingest = await open();
  const client = await connect(ingest);
  client.sendMessage({
    type: 4,
    payload: Buffer.concat([Buffer.from([0, 6]), uint32(123_456)]),
    chunkStreamId: 2,
  });
  const pong = await client.messageOfType(4);
  expect(pong.payload).toEqual(Buffer.concat([Buffer.from([0, 7]), uint32(123_456)]));
});

test('an aggregate message is taken apart', async () => {
  const ingest = await open();
  const client = await connect(ingest);
  await client.publish(goodKey);
  const tag = (type: number, ms: number) =>
    Buffer.from([type, 0, 0, 2, 0, 0, ms, 0, 0, 0, 0, 0x22, ms, 0, 0, 0, 13]);
  const payload = Buffer.concat([tag(9, 10), tag(8, 20)]);
  client.sendMessage({ type: 22, payload, timestampMs: 1_000, messageStreamId: 1, chunkStreamId: 6 });
  await waitUntil(() => ingest.publishers[0]?.tags.length === 2);
  expect(ingest.publishers[0]?.tags).toEqual([
    { kind: 'video', timestampMs: 1_000, body: Buffer.from([0x22, 10]) },
    { kind: 'audio', timestampMs: 1_010, body: Buffer.from([0x22, 20]) },
  ]);
});

test('a receiver that pauses gets nothing until it resumes, and the publisher cannot send', async () => {
  const ingest = await open();
  const client = await connect(ingest);
  await client.publish(goodKey);
  const publisher = ingest.publishers[0]!;
  publisher.connection.pause();
  const before = publisher.connection.bytesIn;
  const total = 3_000;
  const body = frameBody(10_000);
  for (let index = 0; index < total; index += 1) client.sendTag('video', index, body);
  const other = await connect(ingest);
  await other.roundTrips(300);
  expect(publisher.tags).toEqual([]);
  // The result of one read may be here; the other 30 MB wait in the kernel and at the publisher.
  expect(publisher.connection.bytesIn - before).toBeLessThanOrEqual(64 * 1024);
  expect(client.socket.writableLength).toBeGreaterThan(1_000_000);
  publisher.connection.resume();
  await waitUntil(() => publisher.tags.length === total);
  expect(publisher.tags.every((tag, index) => tag.timestampMs === index)).toBe(true);
});

test('a publisher that is ended while it is held, with much unread, still reads why', async () => {
  const ingest = await open();
  const client = await connect(ingest);
  await client.publish(goodKey);
  const { connection } = ingest.publishers[0]!;
  connection.pause();
  for (let index = 0; index < 3_000; index += 1) client.sendTag('video', index, frameBody(10_000));
  const other = await connect(ingest);
  await other.roundTrips(20);
  const before = ingest.bytesIn();
  // A socket that is closed with bytes unread is reset, and the reset would overtake the status.
  connection.refuse('Enough.');
  expect(await client.nextStatus()).toMatchObject({ description: 'Enough.' });
  await waitUntil(() => ingest.bytesIn() > before + 1_000_000, { what: 'the server to read on and drop' });
});

test.each([
  ['connect', (client: RtmpClient) => void client.call('connect', { app: 's' }).catch(() => {})],
  ['publish', (client: RtmpClient) => client.sendPublish(`${goodKey}-2`)],
])('a second %s on a running connection is a protocol error', async (_what, send) => {
  const ingest = await open();
  const client = await connect(ingest);
  await client.publish(goodKey);
  send(client);
  await client.closed();
  expect(ingest.publishers.map(publisher => publisher.closeReasons)).toEqual([['protocol-error']]);
});

test('deleteStream of another stream leaves the publisher alone; without a number it means this one', async () => {
  const ingest = await open();
  const client = await connect(ingest);
  await client.publish(goodKey);
  client.sendCommand('deleteStream', client.messageStreamId + 1);
  await client.roundTrips(1);
  expect(ingest.publishers[0]?.closeReasons).toEqual([]);
  client.sendCommand('deleteStream');
  await client.nextStatus();
  expect(ingest.publishers[0]?.closeReasons).toEqual(['unpublished']);
});

test('a receiver may pause within a tag: the next one waits', async () => {
  const seen: number[] = [];
  let resume = () => {};
  const ingest = await open({
    gate: {
      request: async (_request, connection) => {
        resume = () => connection.resume();
        const sink = {
          media(event: MediaEvent) {
            seen.push(tagOf(event).timestampMs);
            connection.pause();
          },
          closed() {},
        };
        return { accepted: true, sink };
      },
    },
  });
  const client = await connect(ingest);
  await client.publish(goodKey);
  client.socket.cork();
  for (const ms of [1, 2, 3]) client.sendTag('video', ms, video);
  client.socket.uncork();
  for (const count of [1, 2, 3]) {
    await waitUntil(() => seen.length === count);
    resume();
  }
  expect(seen).toEqual([1, 2, 3]);
});

test('a receiver can end the publisher: status, then the end', async () => {
  const ingest = await open();
  const client = await connect(ingest);
  await client.publish(goodKey);
  const publisher = ingest.publishers[0]!;
  const timer = setInterval(() => client.isClosed || client.sendTag('video', 0, frameBody(20_000)), 1);
  publisher.connection.refuse('Only H.264 – sorry.');
  publisher.connection.refuse('Twice.');
  clearInterval(timer);
  expect(await client.nextStatus()).toEqual({
    level: 'error',
    code: 'NetStream.Publish.Rejected',
    description: 'Only H.264 ? sorry.',
  });
  await client.closed();
  expect(publisher.closeReasons).toEqual(['ended-by-server']);
});

test('a receiver that throws loses its publisher and nothing else', async () => {
  const closeReasons: string[] = [];
  const ingest = await open({
    gate: {
      request: async () => ({
        accepted: true,
        sink: {
          media() {
            throw new Error('the receiver is broken');
          },
          closed: reason => closeReasons.push(reason),
        },
      }),
    },
  });
  const client = await connect(ingest);
  await client.publish(goodKey);
  client.sendTag('video', 0, video);
  await client.closed();
  expect(closeReasons).toEqual(['ended-by-server']);
  expect(ingest.log.filter(line => line.level === 'error').map(line => line.event)).toEqual(['sink-failed']);
});

test('an encoder may publish again on its connection', async () => {
  const ingest = await open();
  const client = await connect(ingest);
  await client.publish(goodKey);
  client.sendCommand('FCUnpublish', goodKey);
  await client.nextStatus();
  const stale = ingest.publishers[0]!.connection;
  expect(await client.publish(`${goodKey}-2`)).toMatchObject({ code: 'NetStream.Publish.Start' });
  stale.pause();
  stale.refuse('For the first one.');
  client.sendTag('video', 0, video);
  await waitUntil(() => ingest.publishers[1]?.tags.length === 1);
  expect(ingest.publishers[1]?.closeReasons).toEqual([]);
});

test('draining refuses new publishers in words and lets the running ones be', async () => {
  const ingest = await open();
  const running = await connect(ingest);
  await running.publish(goodKey);
  const waiting = await connect(ingest);
  await ingest.server.drain();
  const refusal = {
    level: 'error',
    code: 'NetStream.Publish.BadName',
    description: 'The server is restarting. Reconnect in a moment.',
  };
  expect(await waiting.publish(`${goodKey}-2`)).toEqual(refusal);
  const late = await connect(ingest);
  expect(await late.publish(`${goodKey}-3`)).toEqual(refusal);
  running.sendTag('video', 0, video);
  await waitUntil(() => ingest.publishers[0]?.tags.length === 1);
  expect(ingest.publishers[0]?.closeReasons).toEqual([]);
});

test('stopping notifies publishers, closes all connections, and may be repeated', async () => {
  const ingest = await open();
  const running = await connect(ingest);
  await running.publish(goodKey);
  const silent = await RtmpClient.open({ port: ingest.port });
  const stuck = await connect(ingest);
  stuck.socket.pause();
  clients.push(silent);
  const stopped = ingest.server.stop();
  expect(ingest.publishers[0]?.closeReasons).toEqual(['server-stopped']);
  expect(await running.nextStatus()).toMatchObject({ level: 'error', code: 'NetStream.Publish.Rejected' });
  await stopped;
  await ingest.server.stop();
  await Promise.all([running.closed(), silent.closed()]);
  await expect(RtmpClient.open({ port: ingest.port })).rejects.toThrow('ECONNREFUSED');
});
