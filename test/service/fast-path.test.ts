import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { FastPath, type FastPathOptions } from '../../src/http/fast-path/fast-path.ts';
import type { FastResponse } from '../../src/http/fast-path/fast-response.ts';
import { waitUntil } from '../support/wait-until.ts';

const simple = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** An HTTP server behind a fast path that serves `/fast…` and holds `/fast-held`. */
async function started(options: Partial<FastPathOptions> = {}) {
  const held: FastResponse[] = [];
  const closed: string[] = [];
  const errors: unknown[] = [];
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    let body = '';
    request.on('data', chunk => {
      body += chunk;
    });
    request.on('end', () => response.end(`http:${request.method} ${request.url} ${body}|`));
  });
  server.on('clientError', (error: Error & { code?: string }, socket) =>
    socket.end(`HTTP/1.1 400 ${error.code}\r\nConnection: close\r\n\r\n`, () => socket.destroy()),
  );
  const fastPath = new FastPath(server, {
    serve: (request, response) => {
      if (!request.url.startsWith('/fast')) return false;
      response.once('close', () => closed.push(request.url));
      if (request.url === '/fast-held') held.push(response);
      else send(response, `fast:${request.url}|`);
      return true;
    },
    fieldsFor: ({ headers }) => (headers['x-secure'] === undefined ? '' : 'X-Own: yes\r\n'),
    basePath: '',
    headersTimeoutMs: 10_000,
    keepAliveTimeoutMs: 65_000,
    failed: error => errors.push(error),
    ...options,
  });
  const sockets = new Set<Socket>();
  server.on('connection', socket => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    fastPath,
    held,
    closed,
    errors,
    open() {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      let text = '';
      socket
        .on('error', () => {})
        .on('data', chunk => {
          text += chunk.toString('latin1');
        });
      return Object.assign(socket, {
        /** Waits for text in what was received, and forgets all of that. */
        async received(part: string): Promise<string> {
          await waitUntil(() => text.includes(part), { what: () => text });
          const all = text;
          text = '';
          return all;
        },
      });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function send(response: FastResponse, body: string | Buffer): void {
  response.writeHead(200, ['Content-Length', String(Buffer.byteLength(body)), 'ETag', '"a"']);
  response.end(body);
}

describe('the fast path', () => {
  it('answers one request after the other on a connection', async () => {
    await using server = await started();
    const socket = server.open();
    socket.write(simple('/fast1'));
    const answer = await socket.received('|');
    expect(answer).toMatch(
      /^HTTP\/1\.1 200 OK\r\nContent-Length: 12\r\nETag: "a"\r\nDate: .* GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=65\r\n\r\nfast:\/fast1\|$/,
    );
    socket.write(simple('/fast2'));
    expect(await socket.received('|')).toContain('fast:/fast2|');
    expect(server.closed).toEqual(['/fast1', '/fast2']);
    expect(server.fastPath.openResponses).toBe(0);
  });

  it('leaves other requests to the HTTP server, and all after them on their connection', async () => {
    await using server = await started();
    const socket = server.open();
    socket.write(simple('/fast1'));
    await socket.received('fast:/fast1|');
    socket.write(simple('/other'));
    expect(await socket.received('|')).toContain('http:GET /other |');
    socket.write(simple('/fast2'));
    expect(await socket.received('|')).toContain('http:GET /fast2 |');
  });

  it('gives the HTTP server every byte of a request that comes in pieces, or with others', async () => {
    await using server = await started();
    const socket = server.open();
    socket.setNoDelay(true);
    const text = `${simple('/fast1')}POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody${simple('/fast2')}`;
    socket.write(text.slice(0, 10));
    await new Promise(resolve => setImmediate(resolve));
    socket.write(text.slice(10));
    const answer = await socket.received('/fast2 |');
    expect(answer.match(/http:[^|]*/g)).toEqual([
      'http:GET /fast1 ',
      'http:POST /x body',
      'http:GET /fast2 ',
    ]);
  });

  it('keeps what comes while a response is held, and answers in order', async () => {
    await using server = await started();
    const socket = server.open();
    socket.write(simple('/fast-held'));
    await waitUntil(() => server.held.length === 1);
    expect(server.fastPath.openResponses).toBe(1);
    socket.write(`${simple('/fast1')}POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 30000\r\n\r\n`);
    socket.write('b'.repeat(30_000));
    send(server.held[0]!, 'held|');
    const answer = await socket.received('bbb|');
    expect(answer).toMatch(/held\|HTTP.*http:GET \/fast1 \|.*http:POST \/x b{30000}\|$/s);
  });

  it('tells the handler that a client has gone, whether it closed or reset', async () => {
    await using server = await started();
    for (const leave of [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()]) {
      const socket = server.open();
      socket.write(simple('/fast-held'));
      await waitUntil(() => server.held.length === 1);
      leave(socket);
      await waitUntil(() => server.closed.length === 1);
      const [response] = server.held;
      expect(response).toMatchObject({ destroyed: true, writableFinished: false });
      send(response!, 'too late');
      server.held.length = 0;
      server.closed.length = 0;
    }
    expect(server.errors).toEqual([]);
  });

  it('finishes a response only when the client has read enough of it', async () => {
    await using server = await started();
    const socket = server.open();
    socket.pause();
    socket.write(simple('/fast-held'));
    await waitUntil(() => server.held.length === 1);
    const body = Buffer.alloc(16 * 1024 * 1024, 'x');
    body[body.length - 1] = '|'.charCodeAt(0);
    send(server.held[0]!, body);
    expect(server.held[0]).toMatchObject({ writableEnded: true, writableFinished: false });
    expect(server.closed).toEqual([]);
    socket.resume();
    await socket.received('x|');
    await waitUntil(() => server.closed.length === 1);
    expect(server.held[0]).toMatchObject({ writableFinished: true });
    socket.write(simple('/fast1'));
    await socket.received('fast:/fast1|');
  });

  it('adds the fields of a request', async () => {
    await using server = await started();
    const socket = server.open();
    socket.write('GET /fast1 HTTP/1.1\r\nHost: x\r\nX-Secure: 1\r\n\r\n');
    expect(await socket.received('|')).toContain('\r\nX-Own: yes\r\n');
    socket.write(simple('/fast2'));
    expect(await socket.received('|')).not.toContain('X-Own');
  });

  it('sends no header with a line break', async () => {
    await using server = await started({
      serve: (_request, response) => {
        response.writeHead(200, ['Content-Length', '0', 'X', 'a\r\nSet-Cookie: b']);
        return true;
      },
    });
    const socket = server.open();
    socket.write(simple('/'));
    await once(socket, 'close');
    expect(server.errors).toHaveLength(1);
  });

  it('refuses a connection that sends nothing, and closes an idle one', async () => {
    await using server = await started({ headersTimeoutMs: 50, keepAliveTimeoutMs: 50 });
    const silent = server.open();
    expect(await silent.received('\r\n\r\n')).toContain('ERR_HTTP_REQUEST_TIMEOUT');
    const idle = server.open();
    idle.write(simple('/fast1'));
    await Promise.all([idle.received('|'), once(idle, 'close')]);
    expect(server.fastPath.openResponses).toBe(0);
  });

  it('closes idle connections when it drains, and busy ones after their response', async () => {
    await using server = await started();
    const [idle, busy] = [server.open(), server.open()];
    idle.write(simple('/fast1'));
    await idle.received('|');
    busy.write(simple('/fast-held'));
    await waitUntil(() => server.held.length === 1);
    server.fastPath.drain();
    await once(idle, 'close');
    const isClosed = once(busy, 'close');
    send(server.held[0]!, 'held|');
    expect(await busy.received('|')).toContain('\r\nConnection: close\r\n');
    await isClosed;
  });
});
