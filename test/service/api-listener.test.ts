import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { Agent, request as requestHttps } from 'node:https';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CertificateFiles } from '../../src/http/listener/certificate-files.ts';
import { HttpListener } from '../../src/http/listener/http-listener.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { makeSelfSigned } from '../support/self-signed.ts';
import { basic, type StartApiOptions, sandboxKey, startApi, type TestApi } from '../support/start-api.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

async function started(options: StartApiOptions = {}): Promise<TestApi> {
  const server = await startApi(options);
  onTestFinished(() => server.stop());
  return server;
}

/** Sends text over a plain connection and reads until the other side closes it. */
async function sendRaw(server: TestApi, text: string): Promise<string> {
  const socket = connect(server.listener.httpPort, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(text);
  return readToEnd(socket);
}

async function readToEnd(socket: Socket): Promise<string> {
  let answer = '';
  socket.setEncoding('utf8').on('data', chunk => {
    answer += chunk;
  });
  await once(socket, 'close');
  return answer;
}

function bodyOf(answer: string): unknown {
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));
}

describe('a request that is none', () => {
  it.each([
    ['HELLO\r\n\r\n', 400, 'The payload is invalid.'],
    [`GET / HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`, 431, 'The payload is too large.'],
  ])('is told so in the form of all errors: %.20j', async (text, status, title) => {
    const server = await started();
    const answer = await sendRaw(server, text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toMatch(/\r\nContent-Type: application\/json\r\n/);
    expect(answer).toMatch(/\r\nX-RateLimit-Limit: \d+\r\n/);
    expect(bodyOf(answer)).toMatchObject({ title, status });
  });

  it.each([
    ['a header that is too long', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
    ['what is not HTTP', 'HELLO\r\n\r\n', 400],
    [
      'a broken chunk',
      'POST /live-streams HTTP/1.1\r\nHost: a\r\nAuthorization: KEY\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      400,
    ],
  ])('is told so, too, on a connection that has had an answer: %s', async (_what, text, status) => {
    const server = await started();
    const socket = connect(server.listener.httpPort, '127.0.0.1');
    socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n');
    const [first] = await once(socket, 'data');
    expect(String(first)).toMatch(/^HTTP\/1.1 200 /);
    socket.write(text.replace('KEY', basic(sandboxKey)));
    const answer = await readToEnd(socket);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(bodyOf(answer)).toMatchObject({ status });
  });

  it.each([
    ['what is not HTTP', 'HELLO\r\n\r\n', 400],
    ['a header that is too long', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
    ['an unknown method', 'FROB /videos HTTP/1.1\r\nHost: a\r\n\r\n', 405],
    ['a tunnel', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
    ['two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
    ['a target on another host', 'GET http://b/health/live HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    [
      'a broken chunk',
      'POST /live-streams HTTP/1.1\r\nHost: a\r\nAuthorization: KEY\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      400,
    ],
  ])('is told so after the answers to the requests before it: %s', async (_what, bad, status) => {
    const server = await started();
    const key = basic(sandboxKey);
    const body = '{"name":"first"}';
    const fields = `Host: a\r\nAuthorization: ${key}\r\n`;
    const good = [
      `POST /live-streams HTTP/1.1\r\n${fields}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      `GET /live-streams HTTP/1.1\r\n${fields}\r\n`,
      'GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n',
    ];
    for (const sent of [good.slice(2), good.slice(1), good, good.toReversed()]) {
      const answer = await sendRaw(server, sent.join('') + bad.replace('KEY', key));
      const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, code]) => Number(code));
      expect(statuses).toEqual([...sent.map(() => 200), status]);
    }
  });

  it('is not answered behind an answer that closes the connection', async () => {
    const server = await started();
    const answer = await sendRaw(
      server,
      `GET /live-streams HTTP/1.1\r\nHost: a\r\nAuthorization: ${basic(sandboxKey)}\r\nConnection: close\r\n\r\nHELLO\r\n\r\n`,
    );
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
    expect(bodyOf(answer)).toMatchObject({ data: [] });
  });

  it('has its connection ended by an answer that asks for another protocol, if it said so', async () => {
    const server = await started();
    const answer = await sendRaw(server, 'GET /events HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1.1 401 /);
    const key = `Authorization: ${basic(sandboxKey)}`;
    const other = await sendRaw(
      server,
      `GET /events HTTP/1.1\r\nHost: a\r\n${key}\r\nConnection: close\r\n\r\n`,
    );
    expect(other).toMatch(/^HTTP\/1.1 426 .*\r\nConnection: close, Upgrade\r\n/s);
  });

  it('because its headers come too slowly answers 408', async () => {
    const server = await started({ headersTimeoutMs: 200 });
    const answer = await sendRaw(server, 'GET /live-streams HTTP/1.1\r\nHost: a\r\n');
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
    expect(bodyOf(answer)).toMatchObject({ title: 'The request took too long.', status: 408 });
  });

  it('because a body that nobody wants never ends is cut off after its answer', async () => {
    const server = await started({ headersTimeoutMs: 200 });
    const socket = connect(server.listener.httpPort, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n');
    socket.once('data', () => socket.write('a'));
    expect(await readToEnd(socket)).toMatch(/^HTTP\/1.1 200 /);
  });

  it.each(['POST /live-streams', 'POST /live-streams/ID/thumbnail'])(
    'because its body comes too slowly answers 408: %s',
    async line => {
      const server = await started({ bodyTimeoutMs: 150 });
      const { json } = await server.call('POST', '/live-streams', { body: { name: 'a' } });
      const head = [
        `${line.replace('ID', json.liveStreamId)} HTTP/1.1`,
        'Host: a',
        `Authorization: ${basic(sandboxKey)}`,
        'Content-Type: multipart/form-data; boundary=x',
        'Content-Length: 1000',
      ].join('\r\n');
      const answer = await sendRaw(
        server,
        `${head}\r\n\r\n--x\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\nbegin`,
      );
      expect(answer).toMatch(/^HTTP\/1.1 408 /);
      expect(answer).toMatch(/\r\nConnection: close\r\n/);
    },
  );
});

describe('draining', () => {
  it('lets a running request end, closes its connection, and takes no new one', async () => {
    const gate = Promise.withResolvers<void>();
    const server = await started({
      beforeKoa: [
        (request, response) => {
          if (request.url !== '/slow') return false;
          void gate.promise.then(() => response.end('done'));
          return true;
        },
      ],
    });
    const socket = connect(server.listener.httpPort, '127.0.0.1');
    socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
    await waitUntil(() => server.listener.openRequests === 1);
    let isDrained = false;
    const drained = server.listener.drain(Date.now() + 10_000).then(() => {
      isDrained = true;
    });
    const late = connect(server.listener.httpPort, '127.0.0.1');
    const [error] = await once(late, 'error');
    expect(error.code).toBe('ECONNREFUSED');
    expect(isDrained).toBe(false);
    gate.resolve();
    const answer = await readToEnd(socket);
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
    expect(answer).toMatch(/\r\nConnection: close\r\n/);
    await drained;
  });

  it('is over at its deadline, and stopping ends what still runs', async () => {
    const server = await started({ beforeKoa: [request => request.url === '/never'] });
    const socket = connect(server.listener.httpPort, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('GET /never HTTP/1.1\r\nHost: a\r\n\r\n');
    await waitUntil(() => server.listener.openRequests === 1);
    await server.listener.drain(Date.now() + 50);
    expect(server.listener.openRequests).toBe(1);
    const closed = once(socket, 'close');
    await server.listener.stop();
    await closed;
    await waitUntil(() => server.listener.openConnections === 0);
  });
});

describe('reports of many players', () => {
  it('are refused early when too many wait, and nothing else is', async () => {
    let reports = 0;
    const tooMany = Promise.withResolvers<void>();
    const listener = new HttpListener({
      host: '127.0.0.1',
      port: 0,
      beforeKoa: [],
      koa: {
        callback: () => async (request, response) => {
          if (request.url !== '/other') await tooMany.promise;
          response.statusCode = request.url === '/other' ? 200 : 202;
          response.end();
        },
      },
      canWait: request => {
        if (request.method !== 'POST') return false;
        reports += 1;
        if (reports > 4_000) tooMany.resolve();
        return true;
      },
      docsBase: () => '',
      log: silentLogger,
    });
    await listener.start();
    onTestFinished(() => listener.stop());
    const sockets = Array.from({ length: 10 }, () => connect(listener.httpPort, '127.0.0.1'));
    await Promise.all(sockets.map(socket => once(socket, 'connect')));
    const report = 'POST /watch HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}';
    const other = 'GET /other HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    const answers = sockets.map(readToEnd);
    for (const socket of sockets) socket.write(report.repeat(1_000) + other);
    const text = (await Promise.all(answers)).join('');
    const countOf = (status: number) => text.split(`HTTP/1.1 ${status} `).length - 1;
    expect([countOf(200), countOf(202) + countOf(503)]).toEqual([10, 10_000]);
    expect(countOf(202)).toBeGreaterThanOrEqual(4_000);
    const [, refusal = ''] = text.split('HTTP/1.1 503 Service Unavailable\r\n');
    expect(refusal).toMatch(/^Retry-After: 5\r$/m);
    expect(refusal).toMatch(/^Access-Control-Allow-Origin: \*\r$/m);
    expect(refusal).toContain('"title":"The server is busy."');
  });
});

describe('a connection that closes', () => {
  it('ends all requests that wait on it', async () => {
    const seen: string[] = [];
    const server = await started({
      beforeKoa: [request => seen.push(request.url ?? '') > 0],
    });
    const socket = connect(server.listener.httpPort, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}'.repeat(20));
    await waitUntil(() => seen.length === 20);
    expect(server.listener.openRequests).toBe(20);
    socket.destroy();
    await waitUntil(() => server.listener.openRequests === 0);
  });
});

describe('a port', () => {
  it('that is taken is told in one sentence', async () => {
    const server = await started();
    const second = new HttpListener({
      host: '127.0.0.1',
      port: server.listener.httpPort,
      beforeKoa: [],
      koa: server.api.koa,
      docsBase: () => '',
      log: silentLogger,
    });
    await expect(second.start()).rejects.toMatchObject({
      code: 'listen-failed',
      message: `HTTP port ${server.listener.httpPort} is already in use on 127.0.0.1. Stop the program that uses it, or set another port.`,
    });
    await second.stop();
  });
});

describe('HTTPS', () => {
  async function startedSecure(options: StartApiOptions = {}) {
    const folder = await testTempDir();
    const certPath = join(folder, 'cert.pem');
    const keyPath = join(folder, 'key.pem');
    const write = async (name: string) => {
      const { cert, key } = makeSelfSigned(name);
      await writeFile(keyPath, key);
      await writeFile(certPath, cert);
      return cert;
    };
    await write('first.example');
    const certificate = new CertificateFiles({ certPath, keyPath, log: silentLogger, intervalMs: 20 });
    await certificate.start();
    onTestFinished(() => certificate.stop());
    const server = await started({ ...options, https: { port: 0, certificate } });
    return { server, write, certPath, port: server.listener.httpsPort! };
  }

  async function nameOfCertificate(port: number): Promise<string> {
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const name = String(socket.getPeerCertificate().subject.CN);
    socket.destroy();
    return name;
  }

  it('serves the API over HTTP/2', async () => {
    const { port } = await startedSecure();
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    onTestFinished(() => session.destroy());
    const ask = async (headers: Record<string, string>, body?: string) => {
      const stream = session.request(headers);
      const answered = once(stream, 'response');
      stream.end(body);
      const [head] = await answered;
      let text = '';
      for await (const chunk of stream.setEncoding('utf8')) text += chunk;
      return { status: head[':status'], type: head['content-type'], text };
    };
    const authorization = basic(sandboxKey);
    const made = await ask({ ':method': 'POST', ':path': '/live-streams', authorization }, '{"name":"a"}');
    expect(made).toMatchObject({ status: 200, type: 'application/json' });
    expect((await ask({ ':path': '/live-streams' })).status).toBe(401);
    const path = `/live-streams/${JSON.parse(made.text).liveStreamId}/complete`;
    expect(await ask({ ':method': 'PUT', ':path': path, authorization })).toEqual({
      status: 202,
      type: undefined,
      text: '',
    });
    const tunnel = await ask({ ':method': 'CONNECT', ':authority': 'localhost:1' });
    expect(tunnel).toMatchObject({ status: 405, type: 'application/json' });
    expect(JSON.parse(tunnel.text)).toMatchObject({ status: 405 });
    const impossible = await ask({ ':path': '/live-streams', authorization, expect: 'a-teapot' });
    expect(impossible).toMatchObject({ status: 417, type: 'application/json' });
  });

  it('serves HTTP/1.1 to those who want it', async () => {
    const { port } = await startedSecure();
    const agent = new Agent({ rejectUnauthorized: false });
    const request = requestHttps({ port, host: '127.0.0.1', path: '/health/live', agent }).end();
    const [response] = await once(request, 'response');
    expect(response.httpVersion).toBe('1.1');
    expect(response.statusCode).toBe(200);
    response.resume();
    agent.destroy();
  });

  it('takes up a renewed certificate, and keeps the old one when the new one is broken', async () => {
    const { port, write, certPath } = await startedSecure();
    expect(await nameOfCertificate(port)).toBe('first.example');
    await writeFile(certPath, 'not a certificate');
    expect(await nameOfCertificate(port)).toBe('first.example');
    await write('second.example');
    await waitUntil(async () => (await nameOfCertificate(port)) === 'second.example');
  });

  it('refuses to start without a usable certificate', async () => {
    const folder = await testTempDir();
    const paths = { certPath: join(folder, 'none.pem'), keyPath: join(folder, 'none.key') };
    const certificate = new CertificateFiles({ ...paths, log: silentLogger });
    await expect(certificate.start()).rejects.toMatchObject({ code: 'tls-unusable' });
  });

  it('ends responses that a client over HTTP/2 does not read, and no others', async () => {
    const { port, server } = await startedSecure({
      keepAliveTimeoutMs: 300,
      beforeKoa: [request => request.url === '/waits'],
    });
    const settings = { initialWindowSize: 0 };
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false, settings });
    onTestFinished(() => session.destroy());
    await once(session, 'localSettings');
    const waiting = session.request({ ':path': '/waits' });
    const unread = session.request({ ':path': '/live-streams' });
    await once(unread, 'response');
    await once(
      unread.resume().on('error', () => {}),
      'close',
    );
    expect(unread.rstCode).toBe(8);
    expect([waiting.closed, session.closed, server.listener.openRequests]).toEqual([false, false, 1]);
  });

  it('refuses requests over HTTP/2 of a network that has many open, and serves it again after them', async () => {
    const { port, server } = await startedSecure({
      perAddress: { maxPerAddress: 2, isExempt: () => false },
      beforeKoa: [request => request.url === '/waits'],
    });
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    onTestFinished(() => session.destroy());
    const open = Array.from({ length: 8 }, () => session.request({ ':path': '/waits' }));
    await waitUntil(() => server.listener.openRequests === 8);
    const refused = session.request({ ':path': '/live-streams' });
    const [error] = await once(refused, 'error');
    expect([error.code, refused.rstCode]).toEqual(['ERR_HTTP2_STREAM_ERROR', 7]);
    for (const stream of open) stream.close();
    await waitUntil(() => server.listener.openRequests === 0);
    const [head] = await once(session.request({ ':path': '/live-streams' }), 'response');
    expect(head[':status']).toBe(401);
  });

  it('ends HTTP/2 connections when it drains', async () => {
    const { server, port } = await startedSecure();
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    await once(session, 'connect');
    const closed = once(session, 'close');
    await server.listener.drain(Date.now() + 5_000);
    await closed;
  });
});
