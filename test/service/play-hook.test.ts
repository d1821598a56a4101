import { openAsBlob } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { fixture } from '../support/fixtures.ts';
import { admin } from '../support/sign-in.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type ReceivedHook, type Receiver, startReceiver } from './webhook-fixture.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ allowPrivateTargets: 'true' });
});
afterAll(() => server?.stop());

const offer = 'v=0\r\n';

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Json = any;

async function startHook(
  answer: (hook: ReceivedHook, response: ServerResponse) => void,
  settings: object = {},
): Promise<Receiver> {
  const receiver = await startReceiver();
  receiver.answer = answer;
  const response = await server.api('PUT', '/hooks/play', { url: receiver.url, ...settings });
  expect(response.status).toBe(200);
  onTestFinished(async () => {
    await server.api('DELETE', '/hooks/play');
    await waitUntil(async () => (await view('/live/li0000000000000000000000')).status === 404);
  });
  // Changes are seen within a second.
  const { liveStreamId } = await server.createStream();
  await waitUntil(async () => {
    await view(`/live/${liveStreamId}`, 'probe');
    return receiver.hooks.length > 0;
  });
  receiver.hooks.length = 0;
  return receiver;
}

async function view(path: string, userAgent = 'Viewer/1.0', headers: Record<string, string> = {}) {
  const response = await fetch(new URL(path, server.baseUrl), {
    headers: { 'user-agent': userAgent, ...headers },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const refuse = (_: ReceivedHook, response: ServerResponse) =>
  void response.writeHead(403).end(JSON.stringify({ message: 'Buy a ticket <first>.' }));

test('the page of a live stream asks once per viewer, and shows the text of a refusal', async () => {
  const { liveStreamId } = await server.createStream();
  const receiver = await startHook((hook, response) =>
    hook.json.query === 'ticket=7' ? void response.end() : refuse(hook, response),
  );
  const page = `/live/${liveStreamId}`;
  const refused = await view(page, 'Viewer/1.0', { referer: 'https://shop.example/', accept: 'text/html' });
  expect(refused.status).toBe(403);
  expect(refused.text).toContain('Buy a ticket &#60;first&#62;.');
  expect(refused.headers.get('cache-control')).toContain('no-store');
  expect((await view(page)).status).toBe(403);
  expect(receiver.hooks.map(({ json }) => json)).toEqual([
    {
      type: 'hook.play',
      emittedAt: expect.any(String),
      liveStreamId,
      remoteAddress: '127.0.0.1',
      userAgent: 'Viewer/1.0',
      referer: 'https://shop.example/',
      query: '',
    },
  ]);
  // Repeats with a ticket: the hook is asked about the viewer again, who keeps it.
  const admitted = await view(`${page}?ticket=7`);
  expect(admitted.status).toBe(200);
  expect(admitted.headers.get('cache-control')).toContain('private');
  expect((await view(page)).status).toBe(200);
  expect((await view(`${page}/state`)).status).toBe(200);
  expect(receiver.hooks).toHaveLength(2);
  expect((await view(page, 'Another/1.0')).status).toBe(403);
  expect(receiver.hooks).toHaveLength(3);
  const whep = await fetch(`${server.baseUrl}/whep/${liveStreamId}`, {
    method: 'POST',
    body: offer,
    headers: { 'content-type': 'application/sdp', 'user-agent': 'Another/1.0' },
  });
  expect([whep.status, await whep.json()]).toMatchObject([403, { detail: 'Buy a ticket <first>.' }]);
  await waitUntil(async () => {
    const { results } = (await (await server.api('GET', '/hooks/play')).json()) as Json;
    return results.some(
      (result: Json) => result.liveStreamId === liveStreamId && result.result === 'allowed',
    );
  });
});

test('the playlists of a video ask once per viewer, its media and thumbnail never', async () => {
  const { videoId, assets } = (await (await server.api('POST', '/videos', { title: 'Pier' })).json()) as Json;
  const film = new FormData();
  film.set('file', await openAsBlob(await fixture('h264-only')), 'pier.mp4');
  await fetch(`${server.baseUrl}/videos/${videoId}/source`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${server.productionKey}:`).toString('base64')}` },
    body: film,
  });
  await waitUntil(async () => {
    const { encoding } = (await (await server.api('GET', `/videos/${videoId}/status`)).json()) as Json;
    return encoding.playable;
  });
  const receiver = await startHook((hook, response) =>
    hook.json.userAgent === 'Guest/1.0' ? refuse(hook, response) : void response.end(),
  );
  const { pathname } = new URL(assets.hls);
  const multivariant = await view(pathname);
  expect(multivariant.status).toBe(200);
  expect(multivariant.headers.get('cache-control')).toContain('private');
  const uriIn = (text: string) => text.split('\n').find(line => line !== '' && !line.startsWith('#'))!;
  const playlistUrl = new URL(uriIn(multivariant.text), new URL(pathname, server.baseUrl));
  const playlist = await view(playlistUrl.pathname);
  expect(playlist.status).toBe(200);
  const media = await view(new URL(uriIn(playlist.text), playlistUrl).pathname, 'Guest/1.0');
  expect(media.status).toBe(200);
  expect(media.headers.get('cache-control')).not.toContain('private');
  await view(new URL(assets.thumbnail).pathname, 'Guest/1.0');
  expect(receiver.hooks.map(({ json }) => json)).toMatchObject([{ type: 'hook.play', videoId }]);
  const refused = await view(pathname, 'Guest/1.0');
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('Buy a ticket')]);
  expect((await view(`/vod/${videoId}`, 'Guest/1.0')).status).toBe(403);
  expect(receiver.hooks).toHaveLength(2);
});

test('captions and storyboards are for those whom the hook admits, and a clip names what it was made of', async () => {
  const { videoId } = (await (await server.api('POST', '/videos', { title: 'Pier' })).json()) as Json;
  const headers = {
    authorization: `Basic ${Buffer.from(`${server.productionKey}:`).toString('base64')}`,
  };
  const send = async (path: string, file: Blob, name: string) => {
    const body = new FormData();
    body.set('file', file, name);
    const response = await fetch(`${server.baseUrl}/videos/${videoId}${path}`, {
      method: 'POST',
      headers,
      body,
    });
    expect([path, response.ok]).toEqual([path, true]);
  };
  await send('/source', await openAsBlob(await fixture('h264-only')), 'pier.mp4');
  const track = new Blob(['WEBVTT\n\n00:00.000 --> 00:01.000\nThe secret\n']);
  for (const kind of ['captions', 'chapters']) await send(`/${kind}/en`, track, 'a.vtt');
  const isPlayable = async (id: string) =>
    ((await (await server.api('GET', `/videos/${id}/status`)).json()) as Json).encoding.playable;
  await waitUntil(() => isPlayable(videoId));
  const base = `/vod/${videoId}`;
  await waitUntil(async () => (await view(`${base}/storyboard.vtt`)).status === 200);
  const receiver = await startHook((hook, response) =>
    hook.json.userAgent === 'Guest/1.0' ? refuse(hook, response) : void response.end(),
  );
  const parts = ['captions/en.vtt', 'chapters/en.vtt', 'storyboard.vtt', 'storyboard.jpg', 'mp4/source.mp4'];
  for (const part of [...parts, 'hls/captions/en.m3u8']) {
    const refused = await view(`${base}/${part}`, 'Guest/1.0');
    expect([part, refused.status]).toEqual([part, 403]);
    const admitted = await view(`${base}/${part}`);
    expect([part, admitted.status, admitted.headers.get('cache-control')]).toEqual([
      ...[part, 200],
      expect.stringContaining('private'),
    ]);
  }
  // Asks once per viewer.
  expect(receiver.hooks).toHaveLength(2);
  expect(receiver.hooks[0]!.json).not.toHaveProperty('clippedFrom');
  const clip = { title: 'Clip', source: videoId, clip: { startTimecode: '0', endTimecode: '2' } };
  const made = (await (await server.api('POST', '/videos', clip)).json()) as Json;
  await view(`/vod/${made.videoId}`);
  expect(receiver.hooks.at(-1)!.json).toMatchObject({ videoId: made.videoId, clippedFrom: videoId });
});

test('a hook that fails leaves the decision to the policy, and one project is not asked about another', async () => {
  const { liveStreamId } = await server.createStream();
  const receiver = await startHook((_, response) => void response.writeHead(500).end());
  const page = `/live/${liveStreamId}`;
  const refused = await view(page);
  expect([refused.status, refused.text]).toEqual([
    403,
    expect.stringContaining('Your access could not be checked'),
  ]);
  await server.api('PUT', '/hooks/play', { url: `${receiver.url}/2`, onFailure: 'allow' });
  await waitUntil(async () => (await view(page)).status === 200);
  const sandbox = await fetch(`${server.baseUrl}/live-streams`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${server.sandboxKey}:`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: '{"name":"Of the sandbox"}',
  });
  const other = (await sandbox.json()) as Json;
  const count = receiver.hooks.length;
  expect((await view(`/live/${other.liveStreamId}`)).status).toBe(200);
  expect(receiver.hooks).toHaveLength(count);
});

test('the owner is not asked about, and neither countries nor sites are closed to them', async () => {
  const stream = await server.createStream();
  const page = `/live/${stream.liveStreamId}`;
  const thumbnail = `/${stream.liveStreamId}/thumbnail.jpg`;
  const session = await fetch(`${server.baseUrl}/auth/session`, {
    method: 'POST',
    body: JSON.stringify(admin),
    headers: { 'content-type': 'application/json' },
  });
  const cookie = session.headers.get('set-cookie')!.split(';')[0]!;
  const receiver = await startHook(refuse);
  const playbackPolicy = {
    allowedCountries: ['DE'],
    allowedDomains: ['shop.example'],
    allowNoReferrer: false,
  };
  await server.api('PATCH', `/live-streams/${stream.liveStreamId}`, { playbackPolicy });
  await waitUntil(async () => (await view(thumbnail)).status === 403);

  const own = await view(page, 'Viewer/1.0', { cookie });
  expect([own.status, own.headers.get('cache-control')]).toEqual([200, expect.stringContaining('private')]);
  const image = await view(thumbnail, 'Viewer/1.0', { cookie });
  expect([image.status, image.headers.get('cache-control')]).toEqual([
    200,
    expect.stringContaining('private'),
  ]);
  expect((await view(page, 'Viewer/1.0', { cookie, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect((await view(page)).status).toBe(403);
  expect(receiver.hooks).toEqual([]);
});

test('caches are told who may have private media, with the answer for the viewer', async () => {
  const { json } = await made('/live-streams', { name: 'Pier', public: false });
  const { pathname } = new URL(json.assets.hls);
  const page = new URL(json.assets.player);
  const isAllowed = new Set(['Viewer/1.0']);
  const receiver = await startHook((hook, response) =>
    isAllowed.has(hook.json.userAgent) ? void response.end() : refuse(hook, response),
  );
  const shown = await view(page.pathname + page.search);
  expect(shown.status).toBe(200);
  const avh = /avh=([\w-]+)/.exec(shown.text)![1]!;
  const access = `${pathname.replace('.m3u8', '')}/access?avh=${avh}`;
  expect((await view(access)).status).toBe(204);
  expect((await view(access)).status).toBe(204);
  expect(receiver.hooks).toHaveLength(1);
  const other = await view(access, 'Another/1.0');
  expect([other.status, other.text]).toEqual([403, expect.stringContaining('Buy a ticket')]);
});

async function made(path: string, body: object): Promise<{ json: Json }> {
  return { json: (await (await server.api('POST', path, body)).json()) as Json };
}
