import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import {
  datagramSocket,
  HANDSHAKE,
  readHandshake,
  writeExtensions,
  writeHandshake,
} from '../../src/media/srt/handshake.ts';
import { CONTROL, readPacket, writeControl, writeData } from '../../src/media/srt/packet.ts';
import { rejectedWith } from '../../src/media/srt/reject-reason.ts';
import { allowedBlockMs, EventLoopBlock } from '../support/event-loop-block.ts';
import { goodKey } from '../support/ingest-client.ts';
import { Random } from '../support/random.ts';
import { type SrtFixture, startSrt } from '../support/srt-ingest.ts';
import { waitUntil } from '../support/wait-until.ts';

const seed = 20_261_116;
const fixtures: SrtFixture[] = [];
const clients: Client[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.close();
  for (const { server } of fixtures.splice(0)) await server.stop();
});

interface Client {
  readonly socket: Socket;
  /** Handshakes that came back, newest last. */
  readonly answers: { readonly type: number; readonly socketId: number; readonly cookie: number }[];
  send(datagram: Buffer): void;
}

async function open(options: Parameters<typeof startSrt>[0] = {}): Promise<SrtFixture> {
  const fixture = await startSrt(options);
  fixtures.push(fixture);
  return fixture;
}

async function connect(port: number): Promise<Client> {
  const socket = createSocket('udp4');
  const answers: Client['answers'][number][] = [];
  socket.on('message', datagram => {
    const packet = readPacket(datagram);
    if (packet?.kind !== 'control' || packet.type !== CONTROL.handshake) return;
    const answer = readHandshake(packet.body);
    if (answer !== undefined) answers.push(answer);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const client = { socket, answers, send: (datagram: Buffer) => socket.send(datagram, port, '127.0.0.1') };
  clients.push(client);
  return client;
}

const common = { initialSequence: 100, flowWindow: 8192, socketId: 77 };

function induction(): Buffer {
  const handshake = { version: 4, encryption: 0, extensionField: datagramSocket, cookie: 0, ...common };
  const body = writeHandshake({ ...handshake, type: HANDSHAKE.induction, extensions: Buffer.alloc(0) });
  return writeControl({ type: CONTROL.handshake, timestampUs: 0, destination: 0, body });
}

function conclusion(cookie: number, streamId: string, socketId = common.socketId): Buffer {
  const extensions = writeExtensions(
    { receiverLatencyMs: 120, senderLatencyMs: 120, streamId, keyMessage: undefined },
    'request',
  );
  const handshake = { version: 5, encryption: 0, cookie, ...common, socketId, ...extensions };
  const body = writeHandshake({ ...handshake, type: HANDSHAKE.conclusion });
  return writeControl({ type: CONTROL.handshake, timestampUs: 0, destination: 0, body });
}

async function cookieOf(client: Client): Promise<number> {
  return await waitUntil(() => {
    client.send(induction());
    return client.answers.find(({ type }) => type === HANDSHAKE.induction)?.cookie;
  });
}

/** The first answer to the conclusion: accepted or rejected. */
async function concluded(client: Client, packet: Buffer): Promise<number> {
  return await waitUntil(() => {
    client.send(packet);
    return client.answers.find(({ type }) => type !== HANDSHAKE.induction)?.type;
  });
}

test('a conclusion without the cookie of its address costs nothing', async () => {
  const fixture = await open();
  const [first, second] = [await connect(fixture.port), await connect(fixture.port)];
  const cookie = await cookieOf(first);
  second.send(conclusion(cookie, goodKey));
  second.send(conclusion(0, goodKey));
  // Datagrams of one socket arrive in order.
  await cookieOf(second);
  expect(fixture.counts.get('opened')).toBeUndefined();
  expect(await concluded(first, conclusion(cookie, goodKey))).toBe(HANDSHAKE.conclusion);
  expect(fixture.publishers).toHaveLength(1);
});

test('connections of one address are limited, and repeated handshakes are one', async () => {
  const fixture = await open({ perAddress: { maxPerAddress: 3, isExempt: () => false } });
  const client = await connect(fixture.port);
  const cookie = await cookieOf(client);
  for (const socketId of [1, 1, 1, 2, 3, 4, 5]) client.send(conclusion(cookie, 'wrong', socketId));
  const rejected = await waitUntil(() => {
    const types = client.answers.map(({ type }) => rejectedWith(type)).filter(type => type !== undefined);
    return types.length >= 5 && types;
  });
  expect(rejected.filter(reason => reason === 1402)).toHaveLength(2);
  expect(fixture.counts.get('refused unknown-key')).toBe(3);
  expect(fixture.counts.get('refused too-many-connections-of-address')).toBe(2);
});

test('a publisher keeps its media whatever others send, before and after the handshake', async () => {
  const fixture = await open({ idleTimeoutMs: 60_000 });
  const publisher = await connect(fixture.port);
  const cookie = await cookieOf(publisher);
  await concluded(publisher, conclusion(cookie, goodKey));
  const { socketId } = publisher.answers.at(-1)!;
  const stranger = await connect(fixture.port);
  const strangerCookie = await cookieOf(stranger);
  const random = new Random(seed);
  const data = writeData({
    sequence: 100,
    messageNumber: 1,
    key: undefined,
    timestampUs: 0,
    destination: socketId,
    payload: random.bytes(1316),
  });
  const originals = [
    ...[induction(), conclusion(strangerCookie, goodKey), conclusion(strangerCookie, '#!::r=x,m=request')],
    ...[data, writeControl({ type: CONTROL.shutdown, timestampUs: 0, destination: socketId })],
  ];
  const block = new EventLoopBlock();
  for (let count = 0; count < 20_000; count += 1) {
    const datagram = Buffer.from(random.pick(originals));
    for (let times = random.below(4); times > 0; times -= 1) {
      datagram[random.below(datagram.length)] = random.pick([
        0,
        1,
        4,
        5,
        0x7f,
        0x80,
        0xff,
        random.below(256),
      ]);
    }
    stranger.send(datagram.subarray(0, random.below(4) === 0 ? random.below(datagram.length) : undefined));
    if (count % 32 === 0) await turn();
  }
  await cookieOf(stranger);
  expect(block.stop()).toBeLessThan(allowedBlockMs);
  const before = fixture.publishers[0]!;
  expect(before.closeReasons).toEqual([]);
  expect(before.connection.transport?.()?.packetsReceived).toBe(0);
  publisher.send(data);
  await waitUntil(() => before.connection.transport?.()?.packetsReceived === 1);
  expect(fixture.log.filter(({ level }) => level === 'error')).toEqual([]);
});

test('an accepted publisher that sends nonsense harms only itself', async () => {
  const fixture = await open({ idleTimeoutMs: 60_000 });
  const random = new Random(seed);
  for (let round = 0; round < 20; round += 1) {
    const client = await connect(fixture.port);
    const cookie = await cookieOf(client);
    await concluded(client, conclusion(cookie, goodKey));
    const destination = client.answers.at(-1)!.socketId;
    for (let count = 0; count < 500; count += 1) {
      const payload = random.bytes(random.pick([0, 1, 4, 188, 1316]));
      const sequence = random.pick([100, 101 + random.below(50), random.below(2 ** 31), 2 ** 31 - 1]);
      const timestampUs = random.below(2 ** 32 - 1);
      const key = random.pick([undefined, 'even', 'odd'] as const);
      client.send(
        random.below(2) === 0
          ? writeData({ sequence, messageNumber: count, key, timestampUs, destination, payload })
          : writeControl({
              type: random.pick([2, 3, 6, 7, 7, 0x7fff]),
              subtype: random.below(5),
              timestampUs,
              info: random.below(2 ** 32 - 1),
              destination,
              body: payload,
            }),
      );
      if (count % 32 === 0) await turn();
    }
    client.send(writeControl({ type: CONTROL.shutdown, timestampUs: 0, destination }));
  }
  await waitUntil(() => {
    const ends = fixture.publishers.map(({ closeReasons }) => closeReasons.length);
    return ends.length === 20 && ends.every(count => count === 1);
  });
  expect(fixture.log.filter(({ level }) => level === 'error')).toEqual([]);
});
