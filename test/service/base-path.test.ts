import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { basicAuthorization } from '../../scripts/server-process.ts';
import { freePort } from '../support/free-port.ts';
import { isInstalled, startNginx } from '../support/nginx.ts';
import { admin } from '../support/sign-in.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { testTempDir } from '../support/temp-dir.ts';

const basePath = '/media';
const origin = 'http://video.example.org';
const offer = readFileSync(new URL('../fixtures/whip-offer.sdp', import.meta.url), 'utf8').replace(
  /\r?\n/g,
  '\r\n',
);

const isNginxInstalled = isInstalled('nginx', '-v');
if (!isNginxInstalled)
  process.stderr.write('The test of paths behind nginx is skipped: it is not installed.\n');

let server: TestServer;
beforeAll(async () => {
  server = await startServer({
    publicUrl: origin + basePath,
    'http.trustedProxies': '127.0.0.1',
    'live.stopGrace': '100ms',
  });
});
afterAll(() => server?.stop());
afterEach(() => void vi.unstubAllEnvs());

// Sends requests as proxies do that pass the path on, and as those that remove it.
describe.each([basePath, ''])('with %j before the paths of requests', prefix => {
  const send = (path: string, options: RequestInit = {}) => {
    vi.stubEnv('MILLRACE_TEST_BASE_PATH', prefix);
    return fetch(server.baseUrl + prefix + path, { redirect: 'manual', ...options });
  };
  const signIn = (headers: Record<string, string> = {}) =>
    send('/auth/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin, ...headers },
      body: JSON.stringify(admin),
    });

  test('a browser is sent to the dashboard below the path', async () => {
    const headers = { accept: 'text/html' };
    for (const path of ['/', ...(prefix === '' ? [] : ['', '?a=b'])]) {
      const answer = await send(path, { headers });
      expect([path, answer.status, answer.headers.get('location')]).toEqual([path, 302, '/media/dashboard']);
    }
  });

  test.each([
    '/dashboard',
    '/dashboard/videos/vi1',
    '/docs',
    '/docs/dashboard',
    '/docs/reference/videos',
    '/docs/errors',
    '/docs/errors/stream-key-unknown',
  ])('the page %s names nothing outside of the path', async path => {
    const answer = await send(path, { headers: { accept: 'text/html' } });
    expect(answer.status).toBe(200);
    const links = [...(await answer.text()).matchAll(/(?:href|src)="(\/[^"]*)"/g)].map(([, link]) => link);
    expect(links.length).toBeGreaterThan(2);
    expect(links.filter(link => !link?.startsWith('/media/'))).toEqual([]);
  });

  test.each(['/dashboard', '/docs', '/vod/sample', '/health/live'])(
    'the whole address of %s works, as sent to proxies',
    async path => {
      const address = `HTTP://Video.example.org${prefix}${path}`;
      const answer = await sendRaw(`GET ${address} HTTP/1.1`, 'Host: video.example.org');
      expect(answer).toMatch(/^HTTP\/1.1 200 /);
    },
  );

  test('the session cookie is for the path alone', async () => {
    const plain = await signIn();
    expect(plain.headers.get('set-cookie')).toMatch(/^millrace_session=\w{43}; Path=\/media; HttpOnly; /);
    const overTls = await signIn({ 'x-forwarded-proto': 'https', origin: 'https://video.example.org' });
    expect(overTls.status).toBe(403);
    const own = { 'x-forwarded-proto': 'https', origin: server.baseUrl.replace('http:', 'https:') };
    const cookie = (await signIn(own)).headers.get('set-cookie');
    expect(cookie).toMatch(/^__Secure-millrace_session=\w{43}; Path=\/media; .*; Secure$/);
    const [secret = ''] = cookie?.split(';') ?? [];
    expect((await send('/auth/session', { headers: { ...own, cookie: secret } })).status).toBe(200);
  });

  test('the cookie of a private video is for its path', async () => {
    const created = await server.api('POST', '/videos', { title: 'Hidden', public: false });
    const { videoId, assets } = (await created.json()) as { videoId: string; assets: { player: string } };
    const page = new URL(assets.player);
    expect(page.pathname.startsWith('/media/vod/')).toBe(true);
    const token = page.searchParams.get('token');
    const answer = await send(`/vod/${videoId}/token/${token}/session`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('set-cookie')).toContain(`; Path=/media/vod/${videoId}; `);
  });

  test('the address of a WHIP session is below the path', async () => {
    const { streamKey } = await server.createStream();
    const published = await send('/whip', {
      method: 'POST',
      headers: { 'content-type': 'application/sdp', authorization: `Bearer ${streamKey}` },
      body: offer,
    });
    expect(published.status).toBe(201);
    const location = published.headers.get('location') ?? '';
    expect(location).toMatch(/^\/media\/whip\/sessions\/wh\w+$/);
    const session = location.slice(basePath.length);
    expect((await send(session, { method: 'DELETE' })).status).toBe(200);
  });

  test('players get pages, playlists and errors, also one after the other on a connection', async () => {
    const created = await server.api('POST', '/videos', { title: 'Film' });
    const { videoId } = (await created.json()) as { videoId: string };
    const page = await send(`/vod/${videoId}`);
    expect(await page.text()).toContain(`src="/media/vod/${videoId}/thumbnail.jpg"`);
    expect((await send(`/vod/${videoId}/hls/manifest.m3u8`)).status).toBe(202);
    expect((await send(`/vod/${videoId}/state`)).status).toBe(200);
    const embed = (await (await send(`/vod/${videoId}/oembed.json`)).json()) as { html: string };
    expect(embed.html).toContain(`src="${origin}/media/vod/${videoId}"`);
    const missing = (await (await send('/videos/vi1')).json()) as { type: string };
    expect(missing.type).toMatch(/^http:\/\/video\.example\.org\/media\/docs\/errors\//);
  });

  test('the event feed opens, and unknown methods are told the known ones', async () => {
    const upgrade = await sendRaw(
      `GET ${prefix}/events HTTP/1.1`,
      ...['Host: a', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
      ...['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Protocol: millrace.events.v1'],
    );
    expect(upgrade).toContain('authentication');
    expect(await sendRaw(`FOO ${prefix}/docs HTTP/1.1`, 'Host: a')).toContain('Allow: GET, HEAD, OPTIONS');
  });
});

test('a path that only starts like the base path is another one', async () => {
  vi.stubEnv('MILLRACE_TEST_BASE_PATH', basePath);
  expect((await fetch(`${server.baseUrl}/mediax/docs`)).status).toBe(404);
});

test.skipIf(!isNginxInstalled).each(['pass the path on', 'remove the path'])(
  'the locations of the documentation that %s work in nginx',
  async kind => {
    const port = await freePort();
    const guide = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
    const locationsOf = (heading: string) => /```nginx\n(.*?)```/s.exec(guide.split(heading)[1] ?? '')![1]!;
    const settings = locationsOf('## Behind a proxy').replace(/location \/ \{|\}|proxy_pass .*;/g, '');
    const passing = locationsOf('### Below a path')
      .replace('# and the settings above', settings)
      .replaceAll(':8080', `:${port}`);
    const removing = passing.replace(`:${port};`, `:${port}/;`).replace(`:${port};`, `:${port}/events;`);
    const nginx = await startNginx({
      folder: await testTempDir(),
      http: kind === 'remove the path' ? removing : passing,
    });
    onTestFinished(() => nginx.stop());
    const address = `http://127.0.0.1:${nginx.httpPort}${basePath}`;
    await using behind = await startServer({ 'http.port': String(port), publicUrl: address });
    vi.stubEnv('MILLRACE_TEST_BASE_PATH', basePath);
    const root = await fetch(`${address}/`, { headers: { accept: 'text/html' } });
    expect([root.status, root.url]).toEqual([200, `${address}/dashboard`]);
    const headers = { authorization: basicAuthorization(behind.productionKey) };
    expect((await fetch(`${address}/videos`, { headers })).status).toBe(200);
    const socket = new WebSocket(`${address}/events`, { headers });
    await once(socket, 'open');
    socket.terminate();
  },
);

/** Sends a request and returns the beginning of the response. */
async function sendRaw(...lines: readonly string[]): Promise<string> {
  const socket = connect(server.app.httpPort, '127.0.0.1');
  socket.write([...lines, '', ''].join('\r\n'));
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return bytes.toString();
}
