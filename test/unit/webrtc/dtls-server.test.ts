import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { uint, vector } from '../../../src/webrtc/dtls/byte-reader.ts';
import { createDtlsCertificate } from '../../../src/webrtc/dtls/dtls-certificate.ts';
import { DtlsServer } from '../../../src/webrtc/dtls/dtls-server.ts';

const extension = (type: number, value: Buffer) => Buffer.concat([uint(2, type), vector(2, value)]);
const hello = Buffer.concat([
  ...[uint(2, 0xfefd), randomBytes(32), vector(1), vector(1), vector(2, uint(2, 0xc02b))],
  vector(1, Buffer.from([0])),
  vector(
    2,
    extension(10, vector(2, uint(2, 29))),
    extension(13, vector(2, uint(2, 0x0403))),
    extension(14, Buffer.concat([vector(2, uint(2, 7)), Buffer.from([0])])),
    extension(23, Buffer.alloc(0)),
  ),
]);

function record(fragment: Buffer): Buffer {
  return Buffer.concat([Buffer.from([22]), uint(2, 0xfefd), Buffer.alloc(8), vector(2, fragment)]);
}

/** Bytes `from`..`to` of the ClientHello. */
function fragmentOf(from: number, to: number, number = 0): Buffer {
  const range = Buffer.concat([uint(3, from), vector(3, hello.subarray(from, to))]);
  return Buffer.concat([Buffer.from([1]), uint(3, hello.length), uint(2, number), range]);
}

const whole = record(fragmentOf(0, hello.length));

function startServer() {
  const sent: Buffer[] = [];
  const server = new DtlsServer({
    certificate: createDtlsCertificate(Date.now()),
    fingerprints: [],
    send: datagram => void sent.push(datagram),
    connected: () => expect.unreachable(),
    closed: (_, detail) => expect.unreachable(detail),
  });
  return { server, sent };
}

test.each<[string, Buffer[]]>([
  ['empty fragments', Array.from({ length: 56 }, () => record(fragmentOf(0, 0)))],
  [
    'empty fragments behind its end',
    Array.from({ length: 56 }, () => record(fragmentOf(hello.length, hello.length))),
  ],
  ['whole messages', Array.from({ length: 20 }, () => whole)],
  ['overlapping pieces', Array.from({ length: 90 }, (_, at) => record(fragmentOf(at, at + 1)))],
  ['pieces in one record', [record(Buffer.concat(Array.from({ length: 90 }, () => fragmentOf(3, 40))))]],
  ['later messages', Array.from({ length: 56 }, (_, number) => record(fragmentOf(0, 0, number + 1)))],
])('a ClientHello that is repeated as %s is answered once', (_, records) => {
  const { server, sent } = startServer();
  server.receive(whole);
  expect(sent).toHaveLength(1);
  for (let count = 0; count < 10; count++) server.receive(Buffer.concat(records));
  expect(sent).toHaveLength(1);
  server.close();
});

test('a ClientHello in overlapping pieces is read, and what follows too early is not kept', () => {
  const { server, sent } = startServer();
  for (let number = 1; number < 8; number++) server.receive(record(fragmentOf(0, hello.length, number)));
  for (let at = hello.length - 10; at > 0; at -= 7) server.receive(record(fragmentOf(at, at + 10)));
  expect(sent).toEqual([]);
  server.receive(record(fragmentOf(0, 10)));
  expect(sent).toHaveLength(1);
  server.close();
});
