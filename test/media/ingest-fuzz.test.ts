import { connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PublisherCloseReason } from '../../src/ingest/publish-gate.ts';
import { outdatedFfmpeg, publishTestPicture } from '../support/ffmpeg.ts';
import {
  frameBody,
  goodKey,
  type IngestFixture,
  recordingGate,
  startIngest,
} from '../support/ingest-client.ts';
import { Random } from '../support/random.ts';
import { RtmpClient, writeChunks } from '../support/rtmp-client.ts';
import { waitUntil } from '../support/wait-until.ts';

const seed = 20_260_304;
const cases = 2_500;
const inParallel = 100;
const handshakeBytes = 1 + 1536 + 1536;

/** Bytes of a real ffmpeg. */
let recorded: Buffer;
/** Position of the publish command, between connect and the media. */
let publishAt: number;

/** Every case is one connection: these bytes, then its end. */
function makeCase(number: number): Buffer {
  const random = new Random(seed + number);
  const from = random.pick([0, handshakeBytes, handshakeBytes, publishAt, publishAt]);
  const to = from === 0 ? handshakeBytes : from === handshakeBytes ? publishAt : recorded.length;
  const times = 1 + random.below(random.pick([2, 4, 40]));
  // Most broken streams are found broken early: a short tail is as good as a long one.
  let bytes: Buffer = Buffer.from(
    recorded.subarray(0, to === recorded.length ? to - random.below(to - from) : to + 2_000),
  );
  for (let time = 0; time < times; time += 1) bytes = mutate(bytes, from, random);
  return bytes;
}

function mutate(bytes: Buffer, from: number, random: Random): Buffer {
  const at = Math.min(from + random.below(Math.max(1, bytes.length - from)), bytes.length);
  const before = bytes.subarray(0, at);
  switch (random.below(8)) {
    case 0: // One bit.
      if (at < bytes.length) bytes[at] = bytes[at]! ^ (1 << random.below(8));
      return bytes;
    case 1: // One byte, often of those that mean something.
      if (at < bytes.length) bytes[at] = random.pick([0, 1, 2, 3, 5, 8, 9, 10, 0x7f, 0x80, 0xc3, 0xff]);
      return bytes;
    case 2: // The end.
      return Buffer.from(before);
    case 3: // Removes some bytes.
      return Buffer.concat([before, bytes.subarray(at + 1 + random.below(20))]);
    case 4: // Adds some bytes.
      return Buffer.concat([before, random.bytes(1 + random.below(20)), bytes.subarray(at)]);
    case 5: // A piece twice.
      return Buffer.concat([before, bytes.subarray(Math.max(0, at - random.below(400)))]);
    case 6: // A message that is well cut and means anything.
      return Buffer.concat([before, randomMessage(random), bytes.subarray(at)]);
    default: // Four bytes that read as a number.
      if (at + 4 <= bytes.length) {
        bytes.writeUInt32BE(random.pick([0, 1, 127, 0xffff, 0xffffff, 0x7fffffff, 0xffffffff]), at);
      }
      return bytes;
  }
}

function randomMessage(random: Random): Buffer {
  const type = random.pick([1, 2, 3, 4, 5, 6, 8, 9, 15, 17, 18, 20, 22, random.below(256)]);
  const commands = recorded.subarray(handshakeBytes, publishAt);
  const payload = random.pick([
    Buffer.alloc(0),
    random.bytes(random.below(40)),
    Buffer.from(commands.subarray(random.below(commands.length))),
  ]);
  const chunkStreamId = random.pick([2, 3, 4, 6, 8, 63, 64, 319, 320, 65_599]);
  const timestampMs = random.pick([0, 40, 0xfffffe, 0xffffff, 0xffffffff]);
  return writeChunks({ type, payload, chunkStreamId, timestampMs, messageStreamId: random.below(3) }, 128);
}

/** Sends the bytes and the end, and resolves when the server has closed as well. */
async function play(port: number, bytes: Buffer, number: number): Promise<void> {
  // Uses several loopback addresses: each has its own ports, and those of one would run out, all waiting for late
  // packets.
  const localAddress = process.platform === 'linux' ? { localAddress: `127.0.0.${2 + (number % 200)}` } : {};
  const socket = connect({ host: '127.0.0.1', port, ...localAddress });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.setTimeout(20_000, () => reject(new Error(`case ${number} is still open after 20 s`)));
  socket.on('error', () => {});
  socket.on('close', () => resolve());
  socket.resume();
  socket.end(bytes);
  await promise;
}

/** Publishes a second of small pictures through a proxy that keeps what ffmpeg sends. */
async function record(): Promise<Buffer> {
  const ingest = await startIngest();
  const chunks: Buffer[] = [];
  const proxy = createServer((encoder: Socket) => {
    const server = connect(ingest.port, '127.0.0.1');
    encoder.on('data', data => chunks.push(data));
    encoder.pipe(server).pipe(encoder);
    for (const socket of [encoder, server]) socket.on('error', () => {});
  });
  proxy.listen(0, '127.0.0.1');
  await waitUntil(() => proxy.listening);
  const { port } = proxy.address() as { port: number };
  const url = `rtmp://127.0.0.1:${port}/s/${goodKey}`;
  await using publisher = publishTestPicture({
    ffmpeg: outdatedFfmpeg,
    url,
    seconds: 1,
    size: '64x48',
    fps: 10,
  });
  expect(await publisher.exited, publisher.stderr).toMatchObject({ code: 0 });
  proxy.close();
  await ingest.server.stop();
  return Buffer.concat(chunks);
}

beforeAll(async () => {
  recorded = await record();
  publishAt = recorded.indexOf('\x02\x00\x07publish', 'latin1') - 12;
  expect(publishAt).toBeGreaterThan(handshakeBytes);
});

const processErrors: unknown[] = [];
const noteError = (error: unknown) => processErrors.push(error);
process.on('uncaughtExceptionMonitor', noteError);
process.on('unhandledRejection', noteError);
afterAll(() => {
  process.off('uncaughtExceptionMonitor', noteError);
  process.off('unhandledRejection', noteError);
});

test('the unchanged recording is accepted', async () => {
  const ingest = await startIngest();
  await play(ingest.port, recorded, 0);
  await waitUntil(() => ingest.publishers[0]?.closeReasons.length === 1);
  expect(ingest.publishers[0]?.closeReasons).toEqual(['unpublished']);
  expect(ingest.publishers[0]?.tags.length).toBeGreaterThan(40);
  await ingest.server.stop();
});

test(`${cases.toLocaleString('en')} broken connections leave another publisher alone`, async () => {
  const steadyKey = `${goodKey}-steady`;
  const fuzzed = { accepted: 0, tags: 0, closed: 0, closedTwice: 0 };
  const steadyPublishers: IngestFixture['publishers'] = [];
  const ingest = await startIngest({
    maxConnections: inParallel * 4,
    gate: {
      request: async (request, connection) => {
        if (request.streamKey === steadyKey)
          return recordingGate(steadyPublishers).request(request, connection);
        if (request.streamKey !== goodKey)
          return { accepted: false, reason: 'unknown-key', description: 'No.' };
        fuzzed.accepted += 1;
        let reason: PublisherCloseReason | undefined;
        const sink = {
          media: () => {
            fuzzed.tags += 1;
          },
          closed: (closeReason: PublisherCloseReason) => {
            if (reason !== undefined) fuzzed.closedTwice += 1;
            reason = closeReason;
            fuzzed.closed += 1;
          },
        };
        return { accepted: true, sink };
      },
    },
  });
  const steady = await RtmpClient.connect({ port: ingest.port });
  expect(await steady.publish(steadyKey)).toMatchObject({ code: 'NetStream.Publish.Start' });
  let sent = 0;
  const timer = setInterval(() => steady.sendTag('video', sent, frameBody(2_000, sent++)), 5);

  const startedAtMs = performance.now();
  let next = 0;
  let seenAtLastCheck = 0;
  const runCases = async () => {
    while (next < cases) {
      const number = next++;
      await play(ingest.port, makeCase(number), number);
      if (number % 500 === 499) {
        const seen = steadyPublishers[0]!.tags.length;
        expect(seen, `tags of the other publisher at case ${number}`).toBeGreaterThan(seenAtLastCheck);
        seenAtLastCheck = seen;
      }
    }
  };
  await Promise.all(Array.from({ length: inParallel }, runCases));
  const seconds = (performance.now() - startedAtMs) / 1_000;
  clearInterval(timer);

  const tags = steadyPublishers[0]!.tags;
  await waitUntil(() => tags.length === sent);
  expect(tags.every((tag, index) => tag.timestampMs === index && tag.body.at(-1) === (index & 0xff))).toBe(
    true,
  );
  expect(steadyPublishers[0]!.closeReasons).toEqual([]);
  const closed = () =>
    [...ingest.counts].filter(([what]) => what.startsWith('closed ')).reduce((sum, [, n]) => sum + n, 0);
  await waitUntil(() => closed() === cases);
  expect(fuzzed.closed).toBe(fuzzed.accepted);
  expect(fuzzed.closedTwice).toBe(0);
  expect(processErrors).toEqual([]);
  // The cases must get somewhere: past the handshake, past the gate, into the media.
  expect(ingest.counts.get('closed protocol-error')).toBeGreaterThan(cases / 10);
  expect(fuzzed.accepted).toBeGreaterThan(cases / 20);
  expect(fuzzed.tags).toBeGreaterThan(cases / 10);
  console.log(`${cases} cases in ${seconds.toFixed(1)} s; ${sent} tags of the other publisher;`, fuzzed);
  console.log(Object.fromEntries(ingest.counts));
  await steady.close();
  await ingest.server.stop();
});
