import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formWith, pngImage } from '../support/images.ts';
import { playerAlone, stateOfPage } from '../support/player-page.ts';
import { startServer, type TestServer } from '../support/start-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ 'videos.restore': 'true' });
});
afterAll(() => server.stop());

const hostile = Buffer.from('WEBVTT\n\n<!doctype html><script>alert(1)</script>');
const vtt = Buffer.from('WEBVTT\n\n00:00.000 --> 00:02.000\nBonjour\n');
const png = pngImage(20, 10);
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into.
type Json = any;
const json = async (method: string, path: string, body?: unknown): Promise<Json> =>
  (await server.api(method, path, body)).json();
const send = (path: string, body: FormData) =>
  fetch(`${server.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${server.productionKey}:`).toString('base64')}` },
    body,
  });
const create = async (attributes: Record<string, unknown> = {}): Promise<string> =>
  (await json('POST', '/videos', { title: 'Harbour', ...attributes })).videoId;
const see = (path: string, options?: RequestInit) => fetch(`${server.baseUrl}${path}`, options);
const upload = (videoId: string, track: string, bytes = vtt) =>
  send(`/videos/${videoId}/${track}`, formWith(['file', bytes, 'a.vtt']));
const stateOf = async (videoId: string): Promise<Json> => (await see(`/vod/${videoId}/state`)).json();

describe('the file of a text track', () => {
  it.each(['captions', 'chapters'])('of %s is served as it came, and as nothing but text', async kind => {
    const videoId = await create();
    await upload(videoId, `${kind}/fr-CA`, hostile);
    const path = `/vod/${videoId}/${kind}/fr-CA.vtt`;
    const answer = await see(path);
    expect([answer.status, await answer.text()]).toEqual([200, hostile.toString()]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/vtt; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': '*',
      'cache-control': 'no-cache',
    });
    const etag = answer.headers.get('etag')!;
    expect((await see(path, { headers: { 'if-none-match': etag } })).status).toBe(304);
    const head = await see(path, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(hostile.length)]);
    const part = await see(path, { headers: { range: 'bytes=10-16' } });
    expect([part.status, await part.text()]).toEqual([206, 'doctype']);
    expect((await see(path.replace('fr-CA', 'FR-ca'))).status).toBe(200);
    expect((await see(path.replace('fr-CA', 'fr'))).status).toBe(404);
    expect((await see(path.replace(kind, kind === 'captions' ? 'chapters' : 'captions'))).status).toBe(404);

    await upload(videoId, `${kind}/fr-CA`);
    const other = await see(path, { headers: { 'if-none-match': etag } });
    expect([other.status, await other.text()]).toEqual([200, vtt.toString()]);
    await server.api('DELETE', `/videos/${videoId}/${kind}/fr-CA`);
    expect((await see(path)).status).toBe(404);
  });

  it('of a private video is for whoever came first with its token', async () => {
    const videoId = await create({ public: false });
    await upload(videoId, 'captions/en');
    expect((await see(`/vod/${videoId}/captions/en.vtt`)).status).toBe(404);
    const { src } = await json('GET', `/videos/${videoId}/captions/en`);
    const first = await fetch(src, { headers: { 'user-agent': 'One' } });
    expect([first.status, await first.text()]).toEqual([200, vtt.toString()]);
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    expect((await fetch(src, { headers: { 'user-agent': 'Another' } })).status).toBe(404);
    const session: Json = await (
      await fetch(src.replace('captions/en.vtt', 'session'), { headers: { 'user-agent': 'One' } })
    ).json();
    const shown = await fetch(`${src}?avh=${session.session_token}`, {
      headers: { 'user-agent': 'Another' },
    });
    expect(shown.status).toBe(200);
  });

  it('is hidden with its video, and comes back with it', async () => {
    const videoId = await create();
    await upload(videoId, 'captions/en');
    await server.api('DELETE', `/videos/${videoId}`);
    expect((await see(`/vod/${videoId}/captions/en.vtt`)).status).toBe(404);
    expect((await server.api('GET', `/videos/${videoId}/captions`)).status).toBe(404);
    await server.api('PATCH', `/discarded/videos/${videoId}`, { discarded: false });
    expect((await see(`/vod/${videoId}/captions/en.vtt`)).status).toBe(200);
  });
});

describe('the page of a video', () => {
  it('is told of captions and chapters, under an address that is new with each file', async () => {
    const videoId = await create();
    await upload(videoId, 'captions/fr-CA');
    await upload(videoId, 'captions/en');
    await upload(videoId, 'chapters/de');
    await server.api('PATCH', `/videos/${videoId}/captions/fr-CA`, { default: true });
    const state = await stateOf(videoId);
    const track = (kind: string, language: string, label: string, isDefault = false) => ({
      language,
      label,
      default: isDefault,
      src: expect.stringMatching(new RegExp(`^/vod/${videoId}/${kind}/${language}\\.vtt\\?v=[0-9a-f]{8}$`)),
    });
    expect(state.captions).toEqual([
      track('captions', 'en', 'English'),
      track('captions', 'fr-CA', 'Français (Canada)', true),
    ]);
    expect(state.chapters).toEqual([track('chapters', 'de', 'Deutsch')]);
    expect((await see(state.captions[1].src)).status).toBe(200);
    await upload(videoId, 'captions/en');
    expect((await stateOf(videoId)).captions[0].src).not.toBe(state.captions[0].src);
  });

  it('is told of the theme as it is now, with its logo, until that is deleted', async () => {
    const { playerId } = await json('POST', '/players', {
      trackPlayed: 'rgba(1, 2, 3, .5)',
      hideTitle: true,
    });
    const videoId = await create({ playerId });
    expect((await stateOf(videoId)).theme).toMatchObject({
      colors: { trackPlayed: 'rgba(1, 2, 3, .5)', backgroundTop: 'rgba(0, 0, 0, .7)' },
      enableApi: true,
      enableControls: true,
      forceAutoplay: false,
      forceLoop: false,
      hideTitle: true,
    });
    await server.api('PATCH', `/players/${playerId}`, { hideTitle: false });
    const link = 'javascript:alert(1)';
    await send(`/players/${playerId}/logo`, formWith(['file', png, 'a.png'], ['link', Buffer.from(link)]));
    const { theme } = await stateOf(videoId);
    expect(theme).toMatchObject({ hideTitle: false, link });
    expect(theme.logo).toMatch(new RegExp(`^/player/${playerId}/logo\\.png\\?v=[0-9a-f]{8}$`));
    expect((await see(theme.logo)).status).toBe(200);
    await server.api('DELETE', `/players/${playerId}`);
    expect((await stateOf(videoId)).theme).toBeNull();
    expect((await see(theme.logo)).status).toBe(404);
  });
});

describe('the page of a live stream', () => {
  it('is told of the theme', async () => {
    const { playerId } = await json('POST', '/players', { text: 'rgba(7, 7, 7, 1)' });
    const { liveStreamId } = await json('POST', '/live-streams', { name: 'Pier', playerId });
    const page = await (await see(playerAlone(`/live/${liveStreamId}`))).text();
    expect(page).toContain('rgba(7, 7, 7, 1)');
    await server.api('DELETE', `/players/${playerId}`);
    const without = await (await see(playerAlone(`/live/${liveStreamId}`))).text();
    expect(stateOfPage(without).theme).toBeNull();
  });
});

describe('the image of a logo', () => {
  it('is served as what it is, to be asked for anew', async () => {
    const { playerId } = await json('POST', '/players', {});
    const path = `/player/${playerId}/logo.png`;
    expect((await see(path)).status).toBe(404);
    await send(`/players/${playerId}/logo`, formWith(['file', png, 'a.gif']));
    const answer = await see(path);
    expect([answer.status, Buffer.from(await answer.arrayBuffer())]).toEqual([200, png]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
      'access-control-allow-origin': '*',
    });
    const etag = answer.headers.get('etag')!;
    expect((await see(path, { headers: { 'if-none-match': etag } })).status).toBe(304);
    expect((await see(path.replace('.png', '.jpg'))).status).toBe(404);
    await send(`/players/${playerId}/logo`, formWith(['file', pngImage(30, 10), 'a.png']));
    expect((await see(path, { headers: { 'if-none-match': etag } })).status).toBe(200);
    await server.api('DELETE', `/players/${playerId}/logo`);
    expect((await see(path)).status).toBe(404);
  });
});
