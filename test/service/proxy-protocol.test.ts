import { once } from 'node:events';
import { request as requestHttp } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { request as requestHttps } from 'node:https';
import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addressReader, isLocalRequest, secureReader } from '../../src/http/listener/client-address.ts';
import { HttpListener } from '../../src/http/listener/http-listener.ts';
import {
  goodKey,
  type IngestFixture,
  type LogLine,
  recordingLogger,
  startIngest,
} from '../support/ingest-client.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { makeSelfSigned } from '../support/self-signed.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { waitUntil } from '../support/wait-until.ts';

const proxyAddress = '127.0.0.2';
const isProxy = (address: string) => address === proxyAddress;
const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n');

const version1 = Buffer.from('PROXY TCP4 198.51.100.7 203.0.113.1 4660 8080\r\n');
const version2 = Buffer.concat([signature, Buffer.from('2111000cc6336407cb00710112341f90', 'hex')]);
const version2Tls = Buffer.concat([
  signature,
  Buffer.from('21110014c6336407cb00710112341f90', 'hex'),
  Buffer.from('2000050100000000', 'hex'),
]);
const version6 = Buffer.from('PROXY TCP6 2001:db8::7 2001:db8::1 4660 8080\r\n');
const local = Buffer.concat([signature, Buffer.from([0x20, 0, 0, 0])]);
const unknown = Buffer.from('PROXY UNKNOWN\r\n');
const fromLoopback = Buffer.from('PROXY TCP4 127.0.0.1 127.0.0.1 4660 8080\r\n');

const certificate = makeSelfSigned('localhost');

/** A listener that tells clients how it sees them. */
async function startHttp(
  options: {
    isProxy?: typeof isProxy;
    maxPerAddress?: number;
    maxConnections?: number;
    headersTimeoutMs?: number;
  } = {
    isProxy,
  },
): Promise<{ listener: HttpListener; log: LogLine[] }> {
  const log: LogLine[] = [];
  const trusted = ['192.0.2.0/24'];
  const addressOf = addressReader(trusted);
  const isSecure = secureReader(trusted);
  const pem = { cert: Buffer.from(certificate.cert), key: Buffer.from(certificate.key) };
  const listener = new HttpListener({
    host: '127.0.0.1',
    port: 0,
    https: { port: 0, certificate: { secureContext: () => pem, onChange: () => () => {} } },
    fast: (request, response) => {
      if (request.url !== '/fast') return false;
      const { remotePort } = request.socket;
      const seen = JSON.stringify({
        address: addressOf(request),
        remotePort,
        isLocal: isLocalRequest(request),
      });
      response.writeHead(200, ['Content-Length', String(seen.length)]);
      response.end(seen);
      return true;
    },
    beforeKoa: [
      (request, response) => {
        response.setHeader('content-type', 'application/json');
        const { remotePort } = request.socket;
        const seen = {
          address: addressOf(request),
          remotePort,
          isSecure: isSecure(request),
          isLocal: isLocalRequest(request),
        };
        request.resume();
        response.end(JSON.stringify(seen));
        return true;
      },
    ],
    koa: { callback: () => () => undefined },
    docsBase: () => '',
    log: recordingLogger(log),
    perAddress: { maxPerAddress: options.maxPerAddress ?? 0, isExempt: () => false },
    isProxy: options.isProxy,
    maxConnections: options.maxConnections ?? 1_000,
    headersTimeoutMs: options.headersTimeoutMs ?? 60_000,
  });
  await listener.start();
  onTestFinished(() => listener.stop());
  return { listener, log };
}

async function startRtmp(options: Parameters<typeof startIngest>[0] = {}): Promise<IngestFixture> {
  const rtmps = { port: 0, secureContext: () => certificate };
  const ingest = await startIngest({ rtmps, isProxy, handshakeTimeoutMs: 60_000, ...options });
  onTestFinished(() => ingest.server.stop());
  return ingest;
}

/** Sends `header` before what clients send: in one packet with it, or one byte at a time. */
async function startProxy(
  port: number,
  header: Buffer,
  { isSplit = false, localAddress = proxyAddress } = {},
) {
  const proxy = await TcpProxy.start(
    { port, host: '127.0.0.1', localAddress },
    async (outgoing, incoming) => {
      outgoing.setNoDelay();
      if (isSplit) {
        await once(outgoing, 'connect');
        for (const byte of header) {
          outgoing.write(Buffer.from([byte]));
          for (let turns = 0; turns < 3; turns += 1) await turn();
        }
      } else {
        const [first] = (await once(incoming, 'data')) as [Buffer];
        incoming.pause();
        outgoing.write(Buffer.concat([header, first]));
      }
    },
  );
  onTestFinished(() => proxy.stop());
  return proxy.port;
}

async function open(port: number, localAddress: string, bytes?: Buffer | string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  if (bytes !== undefined) socket.write(bytes);
  return socket;
}

/** Resolves at the end of a connection, which may be a reset. */
const closeOf = (socket: Socket) => new Promise(resolve => socket.once('close', resolve));

interface Seen {
  readonly address: string;
  readonly remotePort: number;
  readonly isSecure: boolean;
  readonly isLocal: boolean;
}

/** Asks a listener, or a proxy in front of one, over HTTP/1.1. */
async function ask(port: number, { path = '/', isTls = false, headers = {} } = {}): Promise<Seen> {
  const request = (isTls ? requestHttps : requestHttp)({
    host: '127.0.0.1',
    port,
    path,
    agent: false,
    headers: { host: 'localhost', ...headers },
    rejectUnauthorized: false,
  });
  request.end();
  const [response] = await once(request, 'response');
  let text = '';
  for await (const chunk of response) text += chunk;
  return JSON.parse(text);
}

async function askHttp2(port: number): Promise<Seen> {
  const client = connectHttp2(`https://localhost:${port}`, { rejectUnauthorized: false });
  onTestFinished(() => client.destroy());
  const stream = client.request({ ':path': '/' }).setEncoding('utf8');
  let text = '';
  for await (const chunk of stream) text += chunk;
  return JSON.parse(text);
}

const headers = [
  ['version 1', version1, '198.51.100.7'],
  ['version 2', version2, '198.51.100.7'],
  ['IPv6', version6, '2001:db8::7'],
] as const;
const arrivals = [
  ['with the first bytes of the client', false],
  ['byte by byte', true],
] as const;

describe('the address in a PROXY protocol header', () => {
  it.each(headers.flatMap(header => arrivals.map(arrival => [...header, ...arrival] as const)))(
    'is that of the client: %s, %s %s %s',
    async (_, header, address, __, isSplit) => {
      const { listener } = await startHttp();
      const expected = { address, remotePort: 4660, isLocal: false };
      const plain = await startProxy(listener.httpPort, header, { isSplit });
      expect(await ask(plain)).toMatchObject({ ...expected, isSecure: false });
      expect(await ask(plain, { path: '/fast' })).toMatchObject(expected);
      const secure = await startProxy(listener.httpsPort!, header, { isSplit });
      expect(await ask(secure, { isTls: true })).toMatchObject({ ...expected, isSecure: true });
      expect(await askHttp2(secure)).toMatchObject({ ...expected, isSecure: true });

      const ingest = await startRtmp();
      for (const tls of [false, true]) {
        const target = tls ? ingest.server.rtmpsPort! : ingest.port;
        const port = await startProxy(target, header, { isSplit });
        const client = await RtmpClient.connect({ port, tls });
        expect(await client.publish(goodKey)).toMatchObject({ code: 'NetStream.Publish.Start' });
        expect(ingest.publishers.at(-1)?.request.remoteAddress).toBe(address);
        client.destroy();
      }
    },
  );

  it('is the connection to which X-Forwarded-For is held', async () => {
    const { listener } = await startHttp();
    const forwarded = { headers: { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' } };
    const client = await startProxy(listener.httpPort, version2);
    expect(await ask(client, forwarded)).toMatchObject({ address: '198.51.100.7', isSecure: false });
    const trusted = Buffer.from('PROXY TCP4 192.0.2.9 203.0.113.1 4660 8080\r\n');
    const cdn = await startProxy(listener.httpPort, trusted);
    expect(await ask(cdn, forwarded)).toMatchObject({ address: '203.0.113.9', isSecure: true });
  });

  it('says that the client uses TLS up to the proxy', async () => {
    const { listener } = await startHttp();
    const port = await startProxy(listener.httpPort, version2Tls);
    expect(await ask(port)).toMatchObject({ address: '198.51.100.7', isSecure: true });
  });

  it('counts for the limit of connections of an address', async () => {
    const { listener } = await startHttp({ isProxy, maxPerAddress: 1 });
    const first = await open(listener.httpPort, proxyAddress, version1);
    await waitUntil(() => listener.openConnections === 1);
    const second = (await open(listener.httpPort, proxyAddress, version2)).resume();
    await waitUntil(() => second.destroyed);
    const other = await open(listener.httpPort, proxyAddress, version6);
    await waitUntil(() => listener.openConnections === 2);
    expect([first.destroyed, other.destroyed]).toEqual([false, false]);
  });

  it('never makes a request local, unless the proxy asks for itself', async () => {
    const { listener } = await startHttp();
    const seen = async (header: Buffer, isTls: boolean) => {
      const target = isTls ? listener.httpsPort! : listener.httpPort;
      return ask(await startProxy(target, header), { isTls });
    };
    for (const isTls of [false, true]) {
      expect(await seen(fromLoopback, isTls)).toMatchObject({ address: '127.0.0.1', isLocal: false });
      expect(await seen(unknown, isTls)).toMatchObject({ address: proxyAddress, isLocal: false });
      expect(await seen(local, isTls)).toMatchObject({ address: proxyAddress, isLocal: true });
    }
  });
});

describe('a PROXY protocol header', () => {
  it.each([
    ['version 1', version1],
    ['version 2', version2],
  ])('of an address that may not send one is refused: %s', async (_, header) => {
    for (const listens of [isProxy, undefined]) {
      const { listener, log } = await startHttp({ isProxy: listens });
      const plain = await open(
        listener.httpPort,
        '127.0.0.3',
        Buffer.concat([header, Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')]),
      );
      const [answer] = await once(plain, 'data');
      expect(String(answer)).toMatch(/^HTTP\/1.1 400 /);
      expect(String(answer)).not.toContain('198.51.100.7');
      const refused = () => log.filter(({ event }) => event === 'proxy-header-refused');
      expect(refused()).toMatchObject([
        {
          level: 'warn',
          data: { remoteAddress: '127.0.0.3', advice: expect.stringContaining('proxyProtocol.from') },
        },
      ]);
      const secure = (await open(listener.httpsPort!, '127.0.0.3', header)).resume();
      await closeOf(secure);
      expect(log.find(({ event }) => event === 'connection-failed')).toMatchObject({
        data: { remoteAddress: '127.0.0.3', advice: expect.stringContaining('proxyProtocol.from') },
      });
    }
    const ingest = await startRtmp();
    const noted = (event: string) => waitUntil(() => ingest.log.find(line => line.event === event));
    for (const [port, event] of [
      [ingest.port, 'proxy-header-refused'],
      [ingest.server.rtmpsPort!, 'tls-failed'],
    ] as const) {
      const socket = (await open(port, '127.0.0.3', header)).resume();
      expect(await noted(event)).toMatchObject({
        data: { remoteAddress: '127.0.0.3', advice: expect.stringContaining('proxyProtocol.from') },
      });
      socket.destroy();
    }
    expect(ingest.publishers).toEqual([]);
  });

  it('inside of a forwarded connection is not believed', async () => {
    const { listener } = await startHttp();
    const twice = Buffer.concat([version1, version6, Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')]);
    const socket = await open(listener.httpPort, proxyAddress, twice);
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 400 /);
  });

  it.each([
    ['another protocol', Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')],
    ['the handshake of RTMP', Buffer.alloc(1_537, 3)],
    ['the handshake of TLS', Buffer.from('16030100050100000100', 'hex')],
    ['an invalid line', Buffer.from('PROXY TCP4 here there 1 1\r\n')],
    ['an endless line', Buffer.from(`PROXY UNKNOWN ${'x'.repeat(10_000)}`)],
    ['a length beyond the limit', Buffer.concat([signature, Buffer.from([0x21, 0x11, 0xff, 0xff])])],
  ])('is demanded of a proxy, which is refused with %s', async (_, bytes) => {
    const { listener, log } = await startHttp();
    const ingest = await startRtmp();
    const targets = [
      [listener.httpPort, log],
      [listener.httpsPort!, log],
      [ingest.port, ingest.log],
      [ingest.server.rtmpsPort!, ingest.log],
    ] as const;
    for (const [port, lines] of targets) {
      const socket = await open(port, proxyAddress, bytes);
      const answers: Buffer[] = [];
      socket.on('data', answer => void answers.push(answer));
      await closeOf(socket);
      expect(answers).toEqual([]);
      expect(lines.find(({ event }) => event === 'proxy-header-refused')).toMatchObject({
        level: 'warn',
        data: { remoteAddress: proxyAddress, advice: expect.stringContaining('proxyProtocol.from') },
      });
    }
    expect([listener.openConnections, ingest.counts.size]).toEqual([0, 0]);
  });

  it('that is incomplete is given up with its connection, and at the deadline', async () => {
    const { listener, log } = await startHttp({ isProxy, headersTimeoutMs: 300 });
    const ingest = await startRtmp({ handshakeTimeoutMs: 300 });
    for (const port of [listener.httpPort, listener.httpsPort!, ingest.port, ingest.server.rtmpsPort!]) {
      const half = await open(port, proxyAddress, version2.subarray(0, 20));
      half.resume().end();
      await closeOf(half);
      // Bytes that arrive one after the other do not extend it.
      const slow = (await open(port, proxyAddress)).resume();
      const line = [...`PROXY UNKNOWN ${'x'.repeat(80)}`];
      const timer = setInterval(() => slow.write(line.shift() ?? ''), 50);
      await closeOf(slow);
      clearInterval(timer);
    }
    for (const lines of [log, ingest.log]) {
      expect(lines.find(({ event }) => event === 'proxy-header-refused')).toMatchObject({
        data: { reason: 'no PROXY protocol header within 300 ms' },
      });
    }
  });

  it('that never ends keeps no client out, and takes no more connections than allowed', async () => {
    const maxConnections = 400;
    const { listener } = await startHttp({ isProxy, maxConnections });
    const ingest = await startRtmp({ maxConnections });
    for (const port of [listener.httpPort, ingest.port]) {
      const slow: Socket[] = [];
      for (let index = 0; index < maxConnections - 1; index += 1)
        slow.push((await open(port, proxyAddress, 'PROXY TCP4 ')).resume());
      const client = await open(
        port,
        '127.0.0.1',
        port === ingest.port ? Buffer.alloc(1_537, 3) : 'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
      );
      await once(client, 'data');
      const beyond = (await open(port, proxyAddress)).resume();
      await closeOf(beyond);
      expect(slow.filter(socket => socket.destroyed)).toEqual([]);
    }
    // A server that stops waits for none of them.
    await Promise.all([listener.stop(), ingest.server.stop()]);
  });
});

it('two TLS connections of one port of a client, over two proxies, do not disturb each other', async () => {
  const ingest = await startRtmp({ isProxy: address => address.startsWith('127.0.0.2') });
  const port = ingest.server.rtmpsPort!;
  const held = await open(port, proxyAddress, Buffer.concat([version1, Buffer.from('160301', 'hex')]));
  await waitUntil(() => ingest.counts.get('opened') === 1);
  const second = (
    await open(port, '127.0.0.20', Buffer.concat([version1, Buffer.from('160301', 'hex')]))
  ).resume();
  await closeOf(second);
  expect(held.destroyed).toBe(false);
  const raw = await open(
    port,
    proxyAddress,
    Buffer.from('PROXY TCP4 198.51.100.7 203.0.113.1 4661 8080\r\n'),
  );
  const client = connectTls({ socket: raw, rejectUnauthorized: false });
  await once(client, 'secureConnect');
});
