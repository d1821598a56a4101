import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiDocument, operationsOf } from '../../scripts/api-document.ts';
import { createAccount } from '../../src/resources/identity/accounts/create-account.ts';
import { openDatabaseWithoutLock } from '../../src/store/open-database.ts';
import { type HttpReply, HttpTestClient } from '../support/http-test-client.ts';
import { formWith, pngImage } from '../support/images.ts';
import { emailOf } from '../support/sign-in.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { badRequestsOf } from './bad-input-requests.ts';

/** Resources that a project shows to viewers. */
interface Shown {
  readonly key: string;
  readonly videoId: string;
  readonly token: string;
  readonly session: string;
  /** The same of a live stream. */
  readonly live: { readonly liveStreamId: string; readonly token: string; readonly session: string };
}

const hostile = `</title></script><script>alert(1)</script><img src=x onerror=alert(2)>"'\`&amp;\r\nX-Evil: 1\u2028\u202e`;
let server: TestServer;
let asker: HttpTestClient;
let projects: readonly Shown[];
let document: ApiDocument;

beforeAll(async () => {
  server = await startServer();
  asker = new HttpTestClient(Number(new URL(server.baseUrl).port));
  const beside = await openDatabaseWithoutLock({ dataDir: server.dataDir });
  const keys = { sandbox: 'sandbox-key-of-another', production: 'production-key-of-another' };
  await createAccount(beside, {
    email: emailOf('other@example.org'),
    isUpgraded: true,
    keys,
    password: 'a password',
    atMs: Date.now(),
    isFirst: false,
  });
  await beside.stop();
  projects = await Promise.all(
    [server.productionKey, 'production-key-of-this-test-0123456789', keys.sandbox, keys.production].map(show),
  );
  document = (await (await fetch(`${server.baseUrl}/openapi.json`)).json()) as ApiDocument;
});
afterAll(async () => {
  asker.stop();
  await server.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into.
async function api(key: string, method: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(`${server.baseUrl}${path}`, {
    method,
    headers: { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` },
    body: body === undefined ? undefined : body instanceof FormData ? body : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
  return response.json();
}

/** Asks as a viewer, always the same one. */
const see = (path: string): Promise<HttpReply> =>
  asker.send({ method: 'GET', path, headers: { 'user-agent': 'one' } });

async function show(key: string): Promise<Shown> {
  const { videoId } = await api(key, 'POST', '/videos', { title: 'Private', public: false });
  const track = () => formWith(['file', Buffer.from('WEBVTT\n'), 'a.vtt']);
  for (const kind of ['captions', 'chapters'])
    await api(key, 'POST', `/videos/${videoId}/${kind}/en`, track());
  await api(key, 'POST', `/videos/${videoId}/thumbnail`, formWith(['file', pngImage(4, 4), 'a.png']));
  const { assets } = await api(key, 'GET', `/videos/${videoId}`);
  const token = /\/token\/([0-9a-f-]{36})\//.exec(assets.hls)?.[1] ?? '';
  const session = JSON.parse((await see(`/vod/${videoId}/token/${token}/session`)).text).session_token;
  return { key, videoId, token, session, live: await showLive(key) };
}

async function showLive(key: string): Promise<Shown['live']> {
  const { liveStreamId, assets } = await api(key, 'POST', '/live-streams', {
    name: 'Private',
    public: false,
  });
  await api(
    key,
    'POST',
    `/live-streams/${liveStreamId}/thumbnail`,
    formWith(['file', pngImage(4, 4), 'a.png']),
  );
  const token = /\/private\/([0-9a-f-]{36})\//.exec(assets.hls)?.[1] ?? '';
  const { session_token } = JSON.parse((await see(`/private/${token}/${liveStreamId}/session`)).text);
  return { liveStreamId, token, session: session_token };
}

describe('every path that viewers fetch', () => {
  it('answers what is wrong with a request without a fault of ours', async () => {
    const { key } = projects[0]!;
    const { videoId } = await api(key, 'POST', '/videos', { title: 'Public' });
    await api(
      key,
      'POST',
      `/videos/${videoId}/captions/en`,
      formWith(['file', Buffer.from('WEBVTT\n'), 'a.vtt']),
    );
    const fill = (path: string, ids: Readonly<Record<string, string>>) =>
      path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'never-was');
    const requests = operationsOf(document)
      .filter(({ operation }) => ['Delivery', 'Documentation'].includes(operation.tags[0] ?? ''))
      .flatMap(entry => [
        ...badRequestsOf(entry, {
          there: fill(entry.path, { videoId, language: 'en' }),
          nowhere: fill(entry.path, {}),
          path: entry.path,
          headers: {},
          ids: {},
        }),
      ]);
    expect(requests.length).toBeGreaterThan(2_000);
    const wrong: string[] = [];
    await asker.inParallel(requests, async request => {
      const line = `${request.method} ${request.path.slice(0, 100)} (${request.why})`;
      try {
        const { status, text } = await asker.send(request);
        if (status >= 500 || /node_modules|\.ts:\d|SQLITE|TypeError/.test(text))
          wrong.push(`${line} ${status} ${text}`);
      } catch (error) {
        wrong.push(`${line} ${error}`);
      }
    });
    expect(wrong).toEqual([]);
  });
});

describe('a private token', () => {
  it('opens its own video and none of another project, wherever it can stand', async () => {
    const paths = operationsOf(document)
      .filter(({ operation, path }) => path.startsWith('/vod/') && operation.tags[0] === 'Delivery')
      .map(({ path }) => path);
    expect(paths.filter(path => path.includes('{privateToken}')).length).toBeGreaterThan(10);
    const names: Readonly<Record<string, string>> = {
      language: 'en',
      rendition: '720p',
      name: 'video-1-0.m4s',
      height: '720',
    };
    const fill = (path: string, videoId: string, token: string) =>
      path.replace(/\{(\w+)\}/g, (_, name: string) =>
        name === 'videoId' ? videoId : name === 'privateToken' ? token : (names[name] ?? `no ${name}`),
      );
    const never = '0a1b2c3d-4e5f-4a6b-8c7d-0123456789ab';
    const opened: string[] = [];
    const tries = projects.flatMap(owner => paths.map(path => ({ owner, path })));
    await asker.inParallel(tries, async ({ owner, path }) => {
      const own = await see(fill(path, owner.videoId, owner.token));
      if (own.status === 200) opened.push(path);
      for (const other of projects.filter(project => project !== owner)) {
        for (const query of ['', `?token=${other.token}`, `?avh=${other.session}`]) {
          const unknown = await see(fill(path, owner.videoId, never) + query.replace(other.token, never));
          const told = await see(fill(path, owner.videoId, other.token) + query);
          expect([path, query, told.status, told.text]).toEqual([path, query, 404, unknown.text]);
        }
      }
    });
    // Requests each asset that exists without a source.
    for (const asset of [
      'captions/{language}.vtt',
      'chapters/{language}.vtt',
      'thumbnail.jpg',
      'state',
      'session',
    ]) {
      expect(opened.filter(path => path.endsWith(`{privateToken}/${asset}`))).toHaveLength(4);
    }
  });
});

describe('a private token of a live stream', () => {
  it('opens its own stream and none of another project, wherever it can stand', async () => {
    const paths = operationsOf(document)
      .map(({ path }) => path)
      .filter(path => path.startsWith('/private/') || path.startsWith('/live/'));
    expect(paths.filter(path => path.startsWith('/private/')).length).toBeGreaterThan(5);
    const names = { broadcastId: 'br1', rendition: 'source', name: 'part-1.m4s', sheet: '1', slots: '1' };
    const fill = (path: string, { liveStreamId }: Shown['live'], { token, session }: Shown['live']) => {
      const values: Readonly<Record<string, string>> = {
        ...names,
        liveStreamId,
        privateToken: token,
        session,
      };
      const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? `no ${name}`);
      return path.startsWith('/live/') ? `${filled}?token=${token}` : filled;
    };
    const never = { liveStreamId: '', token: '0a1b2c3d-4e5f-4a6b-8c7d-0123456789ab', session: 'never' };
    const opened: string[] = [];
    // The events of one's own stream have no end.
    const tries = projects.flatMap(({ live }) =>
      paths.filter(path => !path.endsWith('/events')).map(path => ({ live, path })),
    );
    await asker.inParallel(tries, async ({ live, path }) => {
      const own = await see(fill(path, live, live));
      if (own.status === 200) opened.push(path);
      const unknown = await see(fill(path, live, never));
      for (const { live: other } of projects.filter(project => project.live !== live)) {
        const foreign = fill(path, live, other);
        for (const query of ['', `avh=${other.session}`]) {
          const told = await see(`${foreign}${foreign.includes('?') ? '&' : '?'}${query}`);
          expect([path, query, told.status, told.text]).toEqual([path, query, 404, unknown.text]);
        }
      }
    });
    for (const asset of ['/{liveStreamId}', '/state', '/thumbnail.jpg', '/session']) {
      expect(opened.filter(path => path.endsWith(asset))).toHaveLength(4);
    }
  });
});

const trap = /<script>alert|<img src=x/;

describe('a title that is a trap', () => {
  it('springs in no page, no answer and no header', async () => {
    const [{ key } = projects[0]!] = projects;
    const { playerId } = await api(key, 'POST', '/players', { name: hostile });
    await api(
      key,
      'POST',
      `/players/${playerId}/logo`,
      formWith(
        ['file', pngImage(4, 4), `${'a"\r\nX-Evil: 1'}.png`],
        ['link', Buffer.from(`javascript:${hostile}`)],
      ),
    );
    const { videoId } = await api(key, 'POST', '/videos', {
      title: hostile,
      description: hostile,
      tags: [hostile],
      metadata: [{ key: hostile, value: hostile }],
      playerId,
    });
    const { liveStreamId } = await api(key, 'POST', '/live-streams', { name: hostile, playerId });
    const pages = [
      `/vod/${videoId}`,
      `/vod/${videoId}/state`,
      `/vod/${videoId}/oembed.json`,
      `/live/${liveStreamId}`,
      `/live/${liveStreamId}/oembed.json`,
      `/vod/${videoId}/mp4/source.mp4?dl=1`,
      '/docs',
      `/docs?${encodeURIComponent(hostile)}`,
      `/docs/errors/${encodeURIComponent(hostile)}`,
      `/docs/assets/${encodeURIComponent(hostile)}`,
      `/vod/${encodeURIComponent(hostile)}`,
      `/live/${encodeURIComponent(hostile)}`,
      `/player/${encodeURIComponent(hostile)}/logo.png`,
    ];
    for (const path of pages) {
      const { status, headers, text } = await see(path);
      const type = String(headers['content-type']);
      // 202: there is no mp4 yet.
      expect([200, 202, 404]).toContain(status);
      expect(headers).not.toHaveProperty('x-evil');
      if (type.startsWith('text/html')) {
        expect([path, text]).toEqual([path, expect.not.stringMatching(trap)]);
        expect([path, headers]).toEqual([
          path,
          expect.objectContaining({ 'content-security-policy': expect.any(String) }),
        ]);
      } else if (text !== '') {
        expect([path, headers['x-content-type-options']]).toEqual([path, 'nosniff']);
      }
    }
    const oembed = JSON.parse((await see(`/vod/${videoId}/oembed.json`)).text);
    expect(oembed.html).not.toMatch(/alert/);
    const shown = await api(key, 'GET', `/videos/${videoId}`);
    expect(shown.assets.iframe).not.toMatch(/alert/);
  });

  it('of a theme is no colour, which would be a style of the page', async () => {
    const [{ key } = projects[0]!] = projects;
    for (const text of [
      'rgba(0, 0, 0, 1);} body { display: none',
      'rgba(0, 0, 0, 1)\n',
      'rgba(0, 0, 0, 1)</style><script>alert(1)</script>',
      'rgba(0, 0, 0, var(--a))',
      'url(https://evil.example/a.png)',
      'rgba(256, 0, 0, 1)',
      'rgba(0, 0, 0, 1e9)',
      'RGBA(０, 0, 0, 1)',
    ]) {
      await expect(api(key, 'POST', '/players', { backgroundTop: text })).rejects.toThrow(
        'invalid-attribute',
      );
    }
  });
});

describe('a file that is a trap', () => {
  const tooLarge = { width: 60_000, height: 60_000 };
  it.each<[string, string, string, Buffer]>([
    ['that says it is huge', 'logo', 'uploaded-file-invalid-file', pngImage(4, 4, tooLarge)],
    ['that says it is huge', 'thumbnail', 'uploaded-file-invalid-file', pngImage(4, 4, tooLarge)],
    ['that says it is huge', 'watermark', 'uploaded-file-invalid-file', pngImage(4, 4, tooLarge)],
    ['of no size', 'thumbnail', 'uploaded-file-invalid-file', pngImage(4, 4, { width: 0, height: 0 })],
    ['that is a page', 'logo', 'uploaded-file-extension-invalid', Buffer.from(hostile)],
    [
      'that is a drawing with a script',
      'thumbnail',
      'uploaded-file-extension-invalid',
      Buffer.from('<svg onload="alert(1)"/>'),
    ],
    [
      'that is less than it says',
      'watermark',
      'uploaded-file-invalid-file',
      pngImage(4, 4, { width: 1_000, height: 1_000 }).subarray(0, 50),
    ],
    ['of more than 8 MiB', 'captions', 'uploaded-file-too-large', Buffer.alloc(8 * 1_024 * 1_024 + 1, 'a')],
    ['without a byte', 'captions', 'uploaded-file-empty', Buffer.alloc(0)],
  ])('%s is refused as a %s', async (_what, where, code, bytes) => {
    const [{ key, videoId } = projects[0]!] = projects;
    const { playerId } = await api(key, 'POST', '/players', {});
    const path: Record<string, string> = {
      logo: `/players/${playerId}/logo`,
      thumbnail: `/videos/${videoId}/thumbnail`,
      watermark: '/watermarks',
      captions: `/videos/${videoId}/captions/fr`,
    };
    await expect(api(key, 'POST', path[where]!, formWith(['file', bytes, 'a.png']))).rejects.toThrow(code);
  });

  it('of captions with zeros and marks is text and nothing else', async () => {
    const [{ key } = projects[0]!] = projects;
    const { videoId } = await api(key, 'POST', '/videos', { title: 'a' });
    const bytes = Buffer.from(
      `WEBVTT\0\n\n00:00.000 --> 00:01.000\n<img src=x onerror=alert(1)>\0${hostile}`,
    );
    await api(key, 'POST', `/videos/${videoId}/captions/en`, formWith(['file', bytes, 'a.html']));
    const { status, headers, text } = await see(`/vod/${videoId}/captions/en.vtt`);
    expect(status).toBe(200);
    expect(text).toBe(`${bytes.toString().replaceAll('\0', '').replaceAll('\r\n', '\n')}\n`);
    expect(headers).toMatchObject({
      'content-type': 'text/vtt; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
  });
});
