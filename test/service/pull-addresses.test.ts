import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EgressProxy } from '../../src/ingest/pull/egress-proxy.ts';
import { requestSource } from '../../src/ingest/pull/http-source.ts';
import { connectSource } from '../../src/ingest/pull/pull-target.ts';
import { RtspRelay } from '../../src/ingest/pull/rtsp-relay.ts';
import { openSrtSource } from '../../src/ingest/pull/srt-source.ts';
import type { ResolveHost } from '../../src/shared/network/target-address.ts';
import { startSrt } from '../support/srt-ingest.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Names that a source may point at the server's own network with. */
const resolve: ResolveHost = async hostname => {
  const address = hostname === 'rebind.example.org' ? '127.0.0.1' : '169.254.169.254';
  return [{ address, family: 4 }];
};
const { signal } = new AbortController();
const events = { bytes: () => {}, media: () => {} };
let secret: Server;
let port: number;
let requests = 0;

beforeAll(async () => {
  secret = createServer((incoming, answer) => {
    requests += 1;
    if (incoming.url === '/metadata')
      answer.writeHead(302, { location: 'http://metadata.example.org/' }).end();
    else answer.end('secret');
  });
  await new Promise<void>(listening => secret.listen(0, '127.0.0.1', listening));
  port = (secret.address() as AddressInfo).port;
});

afterAll(() => secret.close());

const proxyHeaders = ({ username, password }: URL) => ({
  'proxy-authorization': `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
});

describe('sources in the network of the server', () => {
  const rules = { resolve, allowPrivate: false };

  it.each(['127.0.0.1', '[::1]', 'rebind.example.org', '[::ffff:127.0.0.1]', '10.1.2.3', '169.254.169.254'])(
    'are not reached at %s, and the reason names the setting',
    async host => {
      const url = new URL(`http://${host}:${port}/`);
      const expected = /not reachable on the public network\. .*MILLRACE_ALLOW_PRIVATE_TARGETS=true/;
      await expect(requestSource(url, rules, signal)).rejects.toThrow(expected);
      await expect(connectSource(url, rules, signal)).rejects.toThrow(expected);
      await expect(openSrtSource(url, rules, events, signal)).rejects.toThrow(expected);
      expect(requests).toBe(0);
    },
  );

  it('are not reached by the proxy of ffmpeg, with a request or a tunnel', async () => {
    const proxy = new EgressProxy(new URL(`http://rebind.example.org:${port}/a.m3u8`), rules);
    const address = new URL(await proxy.start());
    const get = (path: string) =>
      new Promise<number | undefined>((answered, failed) => {
        const outgoing = request({
          host: address.hostname,
          port: address.port,
          path,
          headers: proxyHeaders(address),
        });
        outgoing.on('response', ({ statusCode }) => answered(statusCode));
        outgoing.on('error', failed);
        outgoing.end();
      });
    for (const path of [
      `http://127.0.0.1:${port}/`,
      `http://rebind.example.org:${port}/`,
      'http://metadata.example.org/',
      'ftp://127.0.0.1/',
      '/',
    ]) {
      expect(await get(path), path).toBe(502);
    }
    expect(proxy.problem).toBeDefined();
    const tunnel = await new Promise<string>(answered => {
      const socket = connect(Number(address.port), '127.0.0.1', () =>
        socket.write(`CONNECT rebind.example.org:${port} HTTP/1.1\r\nHost: a\r\n\r\n`),
      );
      let received = '';
      socket.on('data', bytes => {
        received += bytes.toString();
      });
      socket.on('close', () => answered(received));
      socket.on('error', () => {});
    });
    expect(tunnel).not.toContain('200');
    expect(await get(proxy.firstAddress)).toBe(302);
    proxy.close();
    expect(requests).toBe(0);
  });

  it.each([
    ['a status that is none', 'HTTP/1.1 099 x\r\nContent-Length: 0\r\n\r\n', 502],
    ['a trailer without chunks', 'HTTP/1.1 200 OK\r\nTrailer: a\r\nContent-Length: 2\r\n\r\nab', 200],
  ])('the proxy survives %s', async (_name, response, expected) => {
    const source = createTcpServer(socket =>
      socket.on('error', () => {}).once('data', () => socket.end(response)),
    );
    await new Promise<void>(listening => source.listen(0, '127.0.0.1', listening));
    const url = new URL(`http://127.0.0.1:${(source.address() as AddressInfo).port}/`);
    const proxy = new EgressProxy(url, { resolve, allowPrivate: true });
    const address = new URL(await proxy.start());
    const { hostname, port: proxyPort } = address;
    const status = await new Promise<number | undefined>((answered, failed) => {
      const headers = proxyHeaders(address);
      const outgoing = request({ host: hostname, port: proxyPort, path: url.href, headers });
      outgoing.on('response', answer => {
        answered(answer.statusCode);
        answer.resume();
      });
      outgoing.on('error', failed).end();
    });
    proxy.close();
    source.close();
    expect(status).toBe(expected);
  });

  it('with private addresses allowed, still never leads to metadata addresses', async () => {
    const allowed = { resolve, allowPrivate: true };
    const url = new URL(`http://rebind.example.org:${port}/metadata`);
    await expect(requestSource(url, allowed, signal)).rejects.toThrow(/not reachable/);
    expect(requests).toBe(1);
    const answer = await requestSource(new URL('/', url), allowed, signal);
    expect(answer.statusCode).toBe(200);
    answer.destroy();
  });
});

/** The port of a camera that notes what it receives. */
async function startCamera() {
  const received: string[] = [];
  const camera = createTcpServer(socket =>
    socket.on('error', () => {}).on('data', bytes => received.push(bytes.toString())),
  );
  camera.on('connection', () => received.push('connected'));
  await new Promise<void>(listening => camera.listen(0, '127.0.0.1', listening));
  return { received, camera, port: (camera.address() as AddressInfo).port };
}

/** Resolves with what was answered when the other side closes. */
function sendTo(to: number, text: string): Promise<string> {
  return new Promise(closed => {
    let answered = '';
    const socket = connect(to, '127.0.0.1', () => socket.write(text));
    socket.on('data', bytes => {
      answered += bytes.toString();
    });
    socket.on('error', () => {}).on('close', () => closed(answered));
  });
}

describe('what listens for ffmpeg on this machine', () => {
  const allowed = { resolve, allowPrivate: true };

  it('tells nobody else the address of a source, and passes nothing on', async () => {
    const url = new URL(`http://viewer:hush@rebind.example.org:${port}/secret-path.m3u8`);
    const before = requests;
    const [proxy, other] = [new EgressProxy(url, allowed), new EgressProxy(url, allowed)];
    const [address, ofOther] = [new URL(await proxy.start()), new URL(await other.start())];
    const strangers: Record<string, string>[] = [
      {},
      proxyHeaders(ofOther),
      { 'proxy-authorization': 'Basic' },
      { 'proxy-authorization': `Bearer ${address.password}` },
      { authorization: proxyHeaders(address)['proxy-authorization']! },
    ];
    for (const headers of strangers) {
      for (const path of [proxy.firstAddress, url.href, '/', `/${address.password}`]) {
        const answer = await new Promise<string>((answered, failed) => {
          const outgoing = request({ host: address.hostname, port: address.port, path, headers });
          outgoing.on('response', response => {
            response.resume();
            answered(`${response.statusCode} ${JSON.stringify(response.headers)}`);
          });
          outgoing.on('error', failed).end();
        });
        expect(answer).toMatch(/^407 /);
        expect(answer).not.toMatch(/secret-path|hush|rebind/);
      }
    }
    expect(proxy.problem).toBeUndefined();
    expect(requests).toBe(before);
    proxy.close();
    other.close();
  });

  it('adds the password of a camera to requests of its own ffmpeg only', async () => {
    const { camera, port: cameraPort, received } = await startCamera();
    const url = new URL(`rtsp://viewer:hush@127.0.0.1:${cameraPort}/cam`);
    const relay = new RtspRelay(url, allowed, () => {});
    const address = new URL(await relay.start());
    const to = Number(address.port);
    const ask = (path: string) => `OPTIONS rtsp://${address.host}${path} RTSP/1.0\r\nCSeq: 1\r\n\r\n`;
    const wrong = [
      '/',
      '',
      `/${'0'.repeat(32)}/`,
      `${address.pathname.slice(0, -2)}/`,
      `/a${address.pathname}`,
    ];
    for (const path of wrong) expect(await sendTo(to, ask(path))).toBe('');
    expect(await sendTo(to, `OPTIONS ${'x'.repeat(2_000)}`)).toBe('');
    if (process.getuid?.() === 0) {
      const script = `exec 3<>/dev/tcp/127.0.0.1/${to}; printf '%s' "$0" >&3; cat <&3`;
      const stranger = spawn('bash', ['-c', script, ask(address.pathname)], { uid: 65_534, gid: 65_534 });
      await new Promise(ended => stranger.once('close', ended));
    }
    expect(received).toEqual([]);
    expect(relay.problem).toBeUndefined();
    // Sends two pieces.
    const child = connect(to, '127.0.0.1').on('error', () => {});
    const text = ask(address.pathname);
    child.write(text.slice(0, 20));
    setImmediate(() => child.write(text.slice(20)));
    await waitUntil(() => received.length > 1);
    expect(received.join('')).toContain(`OPTIONS rtsp://127.0.0.1:${cameraPort}/cam RTSP/1.0`);
    child.destroy();
    relay.close();
    camera.close();
  });
});

describe('SRT sources', () => {
  it('tell why they refuse the connection, and are not waited for once the pull ends', async () => {
    const there = await startSrt({ passphrase: 'correct-horse' });
    const open = (query: string, given = signal, port = there.port) =>
      openSrtSource(
        new URL(`srt://127.0.0.1:${port}?${query}`),
        { resolve, allowPrivate: true },
        events,
        given,
      );
    await expect(open('streamid=any')).rejects.toThrow(/one side uses a passphrase, and the other does not/);
    await expect(open('streamid=any&passphrase=wrong-battery')).rejects.toThrow(/the passphrase is wrong/);
    await expect(open('streamid=unknown&passphrase=correct-horse')).rejects.toThrow(
      /the stream key or the passphrase is wrong/,
    );
    const silent = createSocket('udp4');
    await new Promise<void>(bound => silent.bind(0, '127.0.0.1', bound));
    const ending = new AbortController();
    silent.once('message', () => ending.abort());
    await expect(open('streamid=any', ending.signal, silent.address().port)).rejects.toThrow();
    silent.close();
    await there.server.stop();
  });
});
