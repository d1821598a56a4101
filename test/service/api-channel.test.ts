import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { formWith, pngImage } from '../support/images.ts';
import { startApi, type TestAccount, type TestApi } from '../support/start-api.ts';

let server: TestApi;
/** Account of each test. */
let account: TestAccount;
let made = 0;
beforeAll(async () => {
  server = await startApi();
});
beforeEach(async () => {
  account = await server.addAccount({ isUpgraded: true });
  made += 1;
});
afterAll(() => server.stop());

const call = (method: string, path: string, body?: unknown, key = account.productionKey) =>
  server.call(method, path, { key, body });
const change = (body: object, key?: string) => call('PATCH', '/account/channel', body, key);
const view = async () => (await call('GET', '/account/channel')).json;
const slug = (name: string) => `${name}-${made}`;
const off = { enabled: false, name: '', description: '', hasLogo: false };

describe('the channel of a project', () => {
  it('is off until it has a name and an address, and somebody turns it on', async () => {
    expect(await view()).toEqual(off);
    for (const [body, name] of [
      [{ enabled: true }, 'slug'],
      [{ enabled: true, slug: slug('pier') }, 'name'],
      [{ enabled: true, slug: slug('pier'), name: '  ' }, 'name'],
    ] as const) {
      const { status, json } = await change(body);
      expect([status, json.name]).toEqual([400, name]);
    }
    expect(await view()).toEqual(off);
    const { status, json } = await change({ enabled: true, slug: slug('pier'), name: 'Pier TV' });
    const { port } = new URL(server.baseUrl);
    const page = `http://localhost:${port}/channel/${slug('pier')}`;
    expect([status, json.enabled, json.url]).toEqual([200, true, page]);
    const changed = await change({ description: 'Live', accentColor: '#0A7A66' });
    expect(changed.json).toEqual({
      ...off,
      enabled: true,
      slug: slug('pier'),
      name: 'Pier TV',
      description: 'Live',
      accentColor: '#0a7a66',
      url: page,
    });
    expect((await change({ slug: null })).json).toMatchObject({ name: 'slug' });
    expect((await change({ enabled: false })).json).toEqual({
      ...off,
      slug: slug('pier'),
      name: 'Pier TV',
      description: 'Live',
      accentColor: '#0a7a66',
    });
    expect((await change({ slug: null, accentColor: null })).json).toEqual({
      ...off,
      name: 'Pier TV',
      description: 'Live',
    });
  });

  it('has an address of its own', async () => {
    const other = await server.addAccount({ isUpgraded: true });
    expect((await change({ slug: slug('pier') }, other.productionKey)).status).toBe(200);
    const { status, json } = await change({ slug: slug('pier') });
    expect([status, json.name]).toEqual([400, 'slug']);
    expect(JSON.stringify(json)).toContain('Another channel');
    expect((await change({ slug: slug('pier') }, other.productionKey)).status).toBe(200);
    for (const wrong of ['Pier', 'pier_tv', '-pier', 'pier-', 'a--b', 'pier/tv', '', 'a'.repeat(65)])
      expect([wrong, (await change({ slug: wrong })).status]).toEqual([wrong, 400]);
    for (const color of ['red', '#fff', '#0a7a6g'])
      expect((await change({ accentColor: color })).status).toBe(400);
  });

  it('is for production only', async () => {
    const { sandboxKey } = account;
    for (const body of [{ enabled: true, name: 'Pier TV' }, { slug: slug('pier') }]) {
      const { status, json } = await change(body, sandboxKey);
      expect(status).toBe(400);
      expect(JSON.stringify(json)).toContain('Only production');
    }
    expect((await change({ name: 'Pier TV' }, sandboxKey)).json).toEqual({ ...off, name: 'Pier TV' });
    expect(await view()).toEqual(off);
  });

  it('has a logo', async () => {
    const logo = (bytes: Buffer, name: string) =>
      call('POST', '/account/channel/logo', formWith(['file', bytes, name]));
    expect((await logo(pngImage(10, 10), 'logo.png')).json).toEqual({
      ...off,
      hasLogo: true,
    });
    await change({ enabled: true, slug: slug('pier'), name: 'Pier TV' });
    expect((await view()).logo).toMatch(new RegExp(`/channel/${slug('pier')}/logo\\?v=\\d+$`));
    expect((await logo(pngImage(2000, 10), 'logo.png')).status).toBe(400);
    expect((await logo(Buffer.from('no image'), 'logo.png')).status).toBe(400);
    expect((await call('DELETE', '/account/channel/logo')).status).toBe(204);
    expect(await view()).not.toHaveProperty('logo');
  });
});

describe('what a channel lists', () => {
  it('is chosen by video and live stream, and nothing is by default', async () => {
    const { json: video } = await call('POST', '/videos', { title: 'Harbour' });
    expect(video.listed).toBeUndefined();
    const path = `/videos/${video.videoId}`;
    expect((await call('PATCH', path, { listed: true })).json.listed).toBe(true);
    expect((await call('PATCH', path, { public: false })).json).toMatchObject({
      public: false,
      listed: true,
    });
    expect((await call('PATCH', path, { listed: false })).json.listed).toBeUndefined();
    expect((await call('POST', '/videos', { title: 'Pier', listed: true })).json.listed).toBe(true);

    const { json: stream } = await call('POST', '/live-streams', { name: 'Pier cam' });
    expect([stream.listed, stream.showViewers]).toEqual([undefined, undefined]);
    const shown = { listed: true, showViewers: true };
    expect((await call('PATCH', `/live-streams/${stream.liveStreamId}`, shown)).json).toMatchObject(shown);
    expect((await call('POST', '/live-streams', { name: 'Quay cam', ...shown })).json).toMatchObject(shown);
  });

  it('are planned, at a time of any zone, until it is taken back', async () => {
    const startsAt = '2030-03-04T20:00:00+01:00';
    const { json: stream } = await call('POST', '/live-streams', { name: 'Pier cam', startsAt });
    expect(stream.startsAt).toBe('2030-03-04T19:00:00+00:00');
    const path = `/live-streams/${stream.liveStreamId}`;
    expect((await call('PATCH', path, { name: 'Pier' })).json.startsAt).toBe(stream.startsAt);
    const noDates = ['tomorrow', '2030-03-04', '2030-02-30T20:00:00Z', '2030-03-04T20:00:00', 5];
    // In UTC, these are in the years -1 and 10000.
    const tooFar = ['0000-01-01T00:00:00+00:01', '9999-12-31T23:59:59-00:01'];
    for (const wrong of [...noDates, ...tooFar])
      expect([wrong, (await call('PATCH', path, { startsAt: wrong })).status]).toEqual([wrong, 400]);
    expect((await call('PATCH', path, { startsAt: '2031-01-01T00:00:00Z' })).json.startsAt).toBe(
      '2031-01-01T00:00:00+00:00',
    );
    expect((await call('PATCH', path, { startsAt: null })).json.startsAt).toBeUndefined();
    expect((await call('GET', path)).json.startsAt).toBeUndefined();
  });
});
