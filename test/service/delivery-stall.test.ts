import { once } from 'node:events';
import http2 from 'node:http2';
import net from 'node:net';
import { describe, expect, it } from 'vitest';
import { waitUntil } from '../support/wait-until.ts';
import { type Protocol, publicStream, startDelivery } from './delivery-fixture.ts';

const path = `/${publicStream}/b1/source/segment-1.m4s`;
const viewerStallMs = 300;
// Exceeds what the kernel buffers for a reader who reads nothing.
const segment = Array.from({ length: 64 }, (_, index) => Buffer.alloc(1024 * 1024, index));
const segmentBytes = segment.length * 1024 * 1024;

async function started(protocol: Protocol, stallMs = viewerStallMs) {
  const server = await startDelivery(protocol, { viewerStallMs: stallMs });
  server.begin('b1').mediaByName.set('segment-1.m4s', segment);
  return server;
}

describe('a viewer who stops reading', () => {
  it('loses the connection on HTTP/1.1, with little of the segment queued', async () => {
    await using server = await started('HTTP/1.1');
    const socket = net.connect(server.port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.pause();
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await waitUntil(() => server.dropped.length === 1);
    expect(server.dropped).toEqual(['viewer-stalled']);
    expect(server.bytesOut()).toBeLessThan(segmentBytes / 2);
    socket.destroy();
  });

  it.each(['HTTP/1.1', 'HTTP/1.1, fast path'] as const)(
    'loses the connection over %s also when no answer has a body',
    async protocol => {
      await using server = await started(protocol);
      const socket = net.connect(server.port, '127.0.0.1');
      socket.on('error', () => {});
      await once(socket, 'connect');
      socket.pause();
      const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\n\r\n`;
      const timer = setInterval(() => socket.write(request.repeat(1000)), 1);
      await waitUntil(() => server.dropped.length > 0);
      clearInterval(timer);
      socket.destroy();
    },
  );

  it('loses the stream on HTTP/2, while others of its connection go on', async () => {
    await using server = await started('HTTP/2');
    const client = http2.connect(`http://127.0.0.1:${server.port}`);
    const stalled = client.request({ ':path': path });
    stalled.on('error', () => {});
    stalled.pause();
    await waitUntil(() => server.dropped.length === 1 && stalled.closed);
    expect(stalled.rstCode).toBe(http2.constants.NGHTTP2_CANCEL);
    const other = client.request({ ':path': `/${publicStream}.m3u8` });
    const [head] = (await once(other, 'response')) as [http2.IncomingHttpStatusHeader];
    expect(head[':status']).toBe(200);
    // An answered ping keeps the connection.
    const [pingError] = await new Promise<[Error | null]>(resolve => client.ping(error => resolve([error])));
    expect(pingError).toBeNull();
    client.destroy();
  });

  it('loses the whole connection on HTTP/2 when nothing is read there any more', async () => {
    await using server = await started('HTTP/2');
    const socket = net.connect(server.port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.pause();
    socket.write(http2Question(path));
    await waitUntil(() => server.sessions.size === 1);
    await waitUntil(() => server.dropped.length === 1);
    await waitUntil(() => server.sessions.size === 0);
    expect(server.bytesOut()).toBeLessThan(segmentBytes / 2);
    socket.destroy();
  });
});

describe('a viewer who asks for more before the answer is there', () => {
  const list = `/${publicStream}/b1/source/index.m3u8?_HLS_msn=next`;
  const ask = (asked: string) => `GET ${asked} HTTP/1.1\r\nHost: x\r\n\r\n`;

  it('gets all answers in order, though the first is held for longer than a stall', async () => {
    await using server = await startDelivery('HTTP/1.1', { viewerStallMs: 50 });
    const broadcast = server.begin('b1');
    broadcast.mediaByName.set('segment-1.m4s', [Buffer.from('media')]);
    const socket = net.connect(server.port, '127.0.0.1');
    let text = '';
    socket.on('data', chunk => {
      text += chunk.toString('latin1');
    });
    socket.write(ask(list) + ask(path));
    await waitUntil(() => server.requests.length === 1);
    const askedAt = performance.now();
    // Long enough for the guard to have looked more than once.
    await waitUntil(() => performance.now() - askedAt > 4 * 50);
    broadcast.release();
    await waitUntil(() => /#EXTM3U.*media$/s.test(text), { what: () => text });
    expect(server.dropped).toEqual([]);
    socket.destroy();
  });

  it('is forgotten when the connection goes before the first answer', async () => {
    await using server = await startDelivery('HTTP/1.1', { heartbeatMs: 20, maxEventClients: 1 });
    server.begin('b1');
    const socket = net.connect(server.port, '127.0.0.1');
    socket.write(ask(list) + ask(`/live/${publicStream}/events`));
    await waitUntil(() => server.listeners.size === 1);
    socket.destroy();
    await waitUntil(() => server.listeners.size === 0);
  });
});

describe('a viewer who reads slowly', () => {
  it('gets everything, however long it takes', async () => {
    // A busy machine may keep the viewer from reading for a second.
    const stallMs = 3_000;
    await using server = await started('HTTP/1.1', stallMs);
    const socket = net.connect(server.port, '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    let received = 0;
    const startedAt = performance.now();
    // Pauses a sixth of the stall time again and again.
    socket.on('data', chunk => {
      const before = Math.floor(received / (4 * 1024 * 1024));
      received += chunk.length;
      if (Math.floor(received / (4 * 1024 * 1024)) > before) {
        socket.pause();
        setTimeout(() => socket.resume(), stallMs / 6);
      }
    });
    await once(socket, 'close');
    expect(received).toBeGreaterThan(segmentBytes);
    expect(performance.now() - startedAt).toBeGreaterThan(2 * stallMs);
    expect(server.dropped).toEqual([]);
  });
});

/**
 * **Source**: RFC 9113, HTTP/2, 3.4, 4.1 and 6; RFC 7541, HPACK, 6
 *
 * The bytes of a client that asks for `path` and opens its flow-control windows as far as they go.
 */
function http2Question(path: string): Buffer {
  const frame = (type: number, flags: number, streamId: number, payload: Buffer) => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length, 0, 3);
    head.writeUInt8(type, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(streamId, 5);
    return Buffer.concat([head, payload]);
  };
  const initialWindow = Buffer.from([0x00, 0x04, 0x7f, 0xff, 0xff, 0xff]);
  const windowUpdate = Buffer.from([0x7f, 0x00, 0x00, 0x00]);
  const getOverHttp = Buffer.from([0x82, 0x86]);
  const literal = (nameIndex: number, value: string) =>
    Buffer.concat([Buffer.from([nameIndex, value.length]), Buffer.from(value)]);
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(4, 0, 0, initialWindow),
    frame(8, 0, 0, windowUpdate),
    frame(1, 0x5, 1, Buffer.concat([getOverHttp, literal(1, 'x'), literal(4, path)])),
  ]);
}

describe('a client that holds more requests than any player', () => {
  const blocking = `/${publicStream}/b1/source/index.m3u8?_HLS_msn=next`;

  it('is answered at once from some number on, and others still wait for theirs', async () => {
    await using server = await started('HTTP/1.1');
    const broadcast = server.begin('b1');
    const held = () => broadcast.waiting.length - broadcast.aborted;
    const socket = net.connect(server.port, '127.0.0.1');
    socket.on('error', () => {});
    const requests = Array.from(
      { length: 1000 },
      (_, index) => `GET ${blocking}&n=${index} HTTP/1.1\r\nHost: x\r\n\r\n`,
    );
    socket.write(requests.join(''));
    await waitUntil(() => server.requests.some(([, status]) => status === 503));
    expect(held()).toBe(128);
    const other = server.ask(blocking);
    await waitUntil(() => held() === 129);
    broadcast.release();
    expect((await other).status).toBe(200);
    socket.destroy();
  });
});
