import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { request as requestHttps } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSelfSigned } from '../support/self-signed.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

let server: TestServer;
let folder: string;

beforeAll(async () => {
  folder = await makeTempDir();
  const { cert, key } = makeSelfSigned('localhost');
  await writeFile(join(folder, 'cert.pem'), cert);
  await writeFile(join(folder, 'key.pem'), key);
  server = await startServer({
    'https.port': '0',
    'tls.cert': join(folder, 'cert.pem'),
    'tls.key': join(folder, 'key.pem'),
    'tls.hsts': '1h',
    'http.maxConnectionsPerAddress': '20',
    'rtmp.maxConnectionsPerAddress': '2',
    'rateLimit.wrongKeys': '1',
  });
});
afterAll(async () => {
  await server.stop();
  await removeDir(folder);
});

interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Sends a request line and headers as they are, and reads to the end of the connection. */
async function sendRaw(line: string, ...headers: string[]): Promise<RawAnswer> {
  const socket = connect(server.app.httpPort, '127.0.0.1');
  socket.on('error', () => {});
  socket.write([line, ...headers, 'Connection: close', '', ''].join('\r\n'));
  let answer = '';
  socket.setEncoding('utf8').on('data', chunk => {
    answer += chunk;
  });
  await once(socket, 'close');
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  const [status = '', ...lines] = head.split('\r\n');
  const pairs = lines.map(text => text.split(/: (.*)/s).slice(0, 2) as [string, string]);
  return { status: Number(status.split(' ')[1]), headers: new Headers(pairs), body };
}

const read = 'GET, HEAD, OPTIONS';

describe.each(['FOO', 'PROPFIND', 'get', 'TRACE'])('the method %s', method => {
  it.each([
    ['/videos', 'GET, HEAD, OPTIONS, POST'],
    ['/videos/viUnknown000000000000000', 'DELETE, GET, HEAD, OPTIONS, PATCH'],
    ['/auth/api-key', 'OPTIONS, POST'],
    ['/health/live', read],
    ['/openapi.json', read],
    ['/docs', read],
    ['/dashboard', read],
    ['/dashboard/videos?page=2', read],
    ['/liUnknown000000000000000.m3u8', read],
    ['/vod/viUnknown000000000000000/hls/manifest.m3u8', read],
    ['/live/liUnknown000000000000000', read],
    ['/assets/none.js', read],
  ])('is answered with 405 and Allow at %s', async (path, allow) => {
    const answer = await sendRaw(`${method} ${path} HTTP/1.1`, 'Host: localhost');
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')?.split(', ').sort().join(', ')).toBe(allow);
    expect(JSON.parse(answer.body)).toMatchObject({
      type: expect.stringMatching(/\/docs\/errors\/method-not-allowed$/),
      status: 405,
    });
  });

  it('is answered with 404 where nothing is', async () => {
    const answer = await sendRaw(`${method} /nothing HTTP/1.1`, 'Host: localhost');
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.body)).toMatchObject({ title: 'Unrecognized request URL.', status: 404 });
  });
});

it('an unknown method over HTTP/2 is answered with 405 and Allow', async () => {
  const client = connectHttp2(`https://localhost:${server.app.httpsPort}`, { rejectUnauthorized: false });
  for (const [path, allow] of [
    ['/videos', 'GET, HEAD, OPTIONS, POST'],
    ['/liUnknown000000000000000.m3u8', read],
  ] as const) {
    const stream = client.request({ ':method': 'FOO', ':path': path });
    stream.resume().end();
    const [headers] = (await once(stream, 'response')) as [Record<string, string | number>];
    expect([headers[':status'], headers.allow]).toEqual([405, allow]);
  }
  client.destroy();
});

describe('a request that names more than one host', () => {
  it.each([
    ['/health/live', []],
    ['/liUnknown000000000000000.m3u8', []],
    ['/dashboard', []],
    [
      '/events',
      [
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ],
    ],
  ])('is refused at %s', async (path, headers) => {
    const answer = await sendRaw(`GET ${path} HTTP/1.1`, 'Host: localhost', 'host: localhost', ...headers);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body)).toMatchObject({ detail: expect.stringContaining('more than one host') });
  });

  it('is refused over HTTP/2, where the second one is a header', async () => {
    const client = connectHttp2(`https://localhost:${server.app.httpsPort}`, { rejectUnauthorized: false });
    const statusOf = async (headers: Record<string, string>) => {
      const stream = client.request({ ':path': '/health/live', ...headers });
      stream.resume().end();
      const [answer] = (await once(stream, 'response')) as [Record<string, string | number>];
      return answer[':status'];
    };
    expect(await statusOf({ ':authority': 'localhost', host: 'elsewhere.example' })).toBe(400);
    expect(await statusOf({})).toBe(200);
    client.destroy();
  });
});

it('answers over TLS keep browsers on TLS, and only those', async () => {
  const hstsOverTls = async (path: string) => {
    const request = requestHttps({
      host: 'localhost',
      port: server.app.httpsPort,
      path,
      rejectUnauthorized: false,
    }).end();
    const [response] = await once(request, 'response');
    response.resume();
    await once(response, 'end');
    return response.headers['strict-transport-security'];
  };
  for (const path of ['/health/live', '/nothing', '/docs', '/liUnknown000000000000000.m3u8']) {
    expect([path, await hstsOverTls(path)]).toEqual([path, 'max-age=3600']);
    expect(
      (await sendRaw(`GET ${path} HTTP/1.1`, 'Host: localhost')).headers.has('strict-transport-security'),
    ).toBe(false);
  }
});

it('one address has no more connections and wrong keys than the settings say', async () => {
  for (const [port, max] of [
    [server.app.httpPort, 20],
    [server.app.rtmpPort, 2],
  ] as const) {
    const sockets = Array.from({ length: max + 1 }, () => connect(port, '127.0.0.1').on('error', () => {}));
    await waitUntil(() => sockets.some(socket => socket.destroyed));
    expect(sockets.every(socket => socket.destroyed)).toBe(false);
    for (const socket of sockets) socket.destroy();
    await Promise.all(sockets.filter(socket => !socket.closed).map(socket => once(socket, 'close')));
  }
  const authorization = `Authorization: Basic ${Buffer.from('wrong:').toString('base64')}`;
  const statusOf = async () =>
    (await sendRaw('GET /videos HTTP/1.1', 'Host: localhost', authorization)).status;
  // The connections from before may still be open on the other side.
  await waitUntil(async () => (await statusOf()) === 429);
});
