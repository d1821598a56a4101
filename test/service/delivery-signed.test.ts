import { describe, expect, it } from 'vitest';
import { SignedTokens } from '../../src/delivery/signed-tokens.ts';
import type { PlaybackPolicy } from '../../src/shared/playback-policy.ts';
import { playbackGateOf } from '../support/playback-gate.ts';
import { playerAlone } from '../support/player-page.ts';
import { newTestKey, signToken, type TestSigningKey } from '../support/sign-token.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { FolderVideos, hiddenId, videoId } from '../support/vod-fixture.ts';
import { type Protocol, privateStream, protocols, publicStream, startDelivery } from './delivery-fixture.ts';

const hourMs = 3_600_000;
const own = 'https://video.example.org';
const one = { 'user-agent': 'one' };
const openPolicy: PlaybackPolicy = {
  allowedDomains: [],
  allowNoReferrer: true,
  allowedCountries: [],
  blockedCountries: [],
};
const liveAssets = [
  `${privateStream}.m3u8`,
  `${privateStream}/b1/source/index.m3u8`,
  `${privateStream}/b1/source/part-1.m4s`,
  `${privateStream}/thumbnail.jpg`,
  `${privateStream}/session`,
] as const;

async function started(
  protocol: Protocol = 'HTTP/1.1',
  restrictions?: Partial<PlaybackPolicy>,
  ownHosts?: ReadonlySet<string>,
) {
  const time = { nowMs: Date.UTC(2026, 5, 1), monotonicMs: 1 };
  const clock = { nowMs: () => time.nowMs, monotonicMs: () => time.monotonicMs };
  const key = newTestKey('skOfTheTests000000000000', 'prOfTest');
  const keys = new Map<string, TestSigningKey>([[key.id, key]]);
  const policy = restrictions && { ...openPolicy, ...restrictions };
  const videos = new FolderVideos(await testTempDir());
  for (const id of [hiddenId, videoId]) videos.set(id, { public: id === videoId, policy });
  await videos.giveFile(videoId, 'mp4', 'film', 'video/mp4');
  await videos.giveFile(videoId, '720p/video-1-0.m4s', 'media', 'video/mp4');
  await videos.giveFile(hiddenId, 'mp4', 'film', 'video/mp4');
  await videos.giveFile(hiddenId, '720p/video-1-0.m4s', 'media', 'video/mp4');
  const server = await startDelivery(protocol, {
    playback: playbackGateOf({
      signedTokens: new SignedTokens({ findSigningKey: async id => keys.get(id), clock }),
      countryOf: async ({ headers }) =>
        headers['x-country'] === 'none' ? undefined : String(headers['x-country'] ?? ''),
      publicUrl: () => own,
      ownHosts,
      clock,
    }),
    publicUrl: () => own,
    vod: videos,
    clock,
  });
  Object.assign(server.stream, { policy });
  server.hidden.mediaByName.set('part-1.m4s', [Buffer.from('a part')]);
  const sign = (sub: string, claims: Record<string, unknown> = {}) =>
    signToken(key, { sub, exp: Math.floor(time.nowMs / 1000) + 3600, ...claims });
  return Object.assign(server, {
    time,
    key,
    keys,
    videos,
    sign,
    statusOf: async (path: string, headers: Record<string, string> = {}) =>
      (await server.ask(path, { ...one, ...headers })).status,
  });
}

describe.each(protocols)('a signed token over %s', protocol => {
  it('plays a live stream for any number of viewers, without sessions', async () => {
    await using server = await started(protocol);
    const token = await server.sign(privateStream);
    const base = `/private/${token}`;
    for (const agent of ['one', 'two']) {
      for (const asset of liveAssets) {
        const answer = await server.ask(`${base}/${asset}`, { 'user-agent': agent });
        expect([asset, answer.status]).toEqual([asset, 200]);
        expect(`${JSON.stringify(answer.headers)} ${answer.body}`).not.toMatch(/avh|x-token-session/);
      }
    }
    const playlist = (await server.ask(`${base}/${privateStream}.m3u8`)).body.toString();
    expect(playlist).toContain(`\n${privateStream}/b1/source/index.m3u8\n`);
    expect((await server.ask(`${base}/${privateStream}/b1/source/part-1.m4s`)).headers['cache-control']).toBe(
      'private, max-age=60, immutable',
    );
    for (const what of ['', '/state']) {
      const page = await server.ask(`/live/${privateStream}${what}?token=${token}`);
      expect(page.status).toBe(200);
      expect(page.body.toString()).not.toContain('avh');
    }
    const html = (await server.ask(playerAlone(`/live/${privateStream}?token=${token}`))).body.toString();
    expect(html).toContain(`${base}/${privateStream}.m3u8`);
    expect(html).toContain(`?token=${token}`);
    expect(await server.statusOf(`${base}/${privateStream}/access`)).toBe(204);
    expect(await server.statusOf(`/private/${token}/${publicStream}.m3u8`)).toBe(404);
  });

  it('plays a video', async () => {
    await using server = await started(protocol);
    const token = await server.sign(hiddenId);
    const base = `/vod/${hiddenId}/token/${token}`;
    const paths = ['hls/manifest.m3u8', 'hls/720p/video-1-0.m4s', 'mp4/source.mp4', 'state', 'session'];
    for (const path of paths) {
      const answer = await server.ask(`${base}/${path}`);
      expect([path, answer.status]).toEqual([path, 200]);
      expect(answer.body.toString()).not.toContain('avh');
    }
    const page = await server.ask(`/vod/${hiddenId}?token=${token}`);
    expect([page.status, page.headers['cache-control']]).toEqual([200, 'private, no-cache']);
    expect(page.body.toString()).toContain(`${base}/hls/manifest.m3u8`);
    expect(await server.statusOf(`${base}/access`)).toBe(204);
    // Rejects a token of another kind, as with private tokens.
    const ofPublic = await server.sign(videoId);
    expect(await server.statusOf(`/vod/${videoId}/token/${ofPublic}/hls/manifest.m3u8`)).toBe(404);
    expect(await server.statusOf(`/vod/${videoId}?token=${ofPublic}`)).toBe(200);
  });

  it('says why in the language of the viewer, or by a reason for the player', async () => {
    await using server = await started(protocol);
    const token = await server.sign(privateStream, { countries: ['FR'], domains: ['example.org'] });
    const page = `/live/${privateStream}?token=${token}`;
    const german = { 'accept-language': 'de', 'x-country': 'DE' };
    const refused = await server.ask(page, german);
    expect([refused.status, refused.headers['content-language']]).toEqual([403, undefined]);
    expect(refused.body.toString()).toContain('<html lang="de" dir="ltr">');
    expect(refused.body.toString()).toContain('Die Wiedergabe ist in Ihrem Land nicht erlaubt.');
    const state = async (headers: Record<string, string>) => {
      const answer = await server.ask(`/live/${privateStream}/state?token=${token}`, {
        ...german,
        ...headers,
      });
      const { detail, reason } = JSON.parse(answer.body.toString());
      return { status: answer.status, detail, reason };
    };
    expect(await state({})).toEqual({
      status: 403,
      detail: "Playback isn't allowed in your country.",
      reason: 'country',
    });
    expect(await state({ origin: 'https://other.example' })).toMatchObject({ reason: 'site' });
    server.time.nowMs += 2 * hourMs;
    expect(await state({})).toMatchObject({ reason: 'expired' });
    expect((await server.ask(page, { 'accept-language': 'es' })).body.toString()).toContain(
      'Este enlace ha caducado.',
    );
  });

  it('says why it is refused, for media and on the page, and is asked again at once', async () => {
    await using server = await started(protocol);
    const token = await server.sign(hiddenId);
    const media = `/vod/${hiddenId}/token/${token}/hls/720p/video-1-0.m4s`;
    expect(await server.statusOf(media)).toBe(200);
    server.time.nowMs += hourMs + 30_000;
    const answer = await server.ask(media, { ...one, accept: 'application/json' });
    expect([answer.status, answer.headers['cache-control']]).toEqual([403, 'no-store']);
    expect(JSON.parse(answer.body.toString())).toMatchObject({
      title: "Playback isn't allowed.",
      status: 403,
      detail: expect.stringContaining('has expired'),
    });
    for (const path of [`/vod/${hiddenId}`, `/live/${privateStream}`]) {
      const refused = await server.sign('viOther00000000000000000');
      const page = await server.ask(`${path}?token=${refused}`, { ...one, accept: 'text/html' });
      expect([page.status, page.headers['cache-control']]).toEqual([403, 'no-store']);
      expect(page.headers['content-security-policy']).toContain("default-src 'none'");
      expect(page.body.toString()).toContain('The token is for another video or live stream');
    }
    server.keys.clear();
    server.time.monotonicMs += 1000;
    expect(await server.statusOf(`/private/${await server.sign(privateStream)}/${liveAssets[2]}`)).toBe(403);
  });
});

it('is refused in the media of a live stream as soon as it expires, and its event stream ends', async () => {
  await using server = await started();
  const token = await server.sign(privateStream);
  const path = `/private/${token}/${liveAssets[2]}`;
  expect(await server.statusOf(path)).toBe(200);
  server.time.nowMs += hourMs + 30_000;
  expect(await server.statusOf(path)).toBe(403);
  expect(await server.statusOf(`/live/${privateStream}/events?token=${token}`)).toBe(403);
});

it('is for the sites that it names, with pages of the server itself', async () => {
  await using server = await started();
  const token = await server.sign(privateStream, { domains: ['example.com', '*.example.net'] });
  const path = `/private/${token}/${liveAssets[1]}`;
  const statuses = async (header: string, values: string[]) =>
    Promise.all(values.map(value => server.statusOf(path, { [header]: value })));
  const allowed = ['https://example.com', 'http://EXAMPLE.com:8080', 'https://a.b.example.net', own];
  expect(await statuses('origin', allowed)).toEqual([200, 200, 200, 200]);
  expect(
    await statuses(
      'referer',
      allowed.map(site => `${site}/page?x=1`),
    ),
  ).toEqual([200, 200, 200, 200]);
  const others = [
    'https://example.net',
    'https://notexample.com',
    'https://example.com.evil.test',
    'data:x',
    '%',
  ];
  expect(await statuses('origin', others)).toEqual([403, 403, 403, 403, 403]);
  expect(await statuses('referer', others)).toEqual([403, 403, 403, 403, 403]);
  expect(await statuses('origin', ['null'])).toEqual([200]);
  expect(await server.statusOf(path, { origin: 'null', referer: 'https://evil.test/' })).toBe(403);
  expect(await server.statusOf(path)).toBe(200);
  const edge = `/private/${token}/${privateStream}/access`;
  expect(await server.statusOf(edge, { origin: 'https://evil.test' })).toBe(403);
  expect(await server.statusOf(edge, { origin: 'https://example.com' })).toBe(204);
});

it('is for the countries that it names', async () => {
  await using server = await started();
  const token = await server.sign(hiddenId, { countries: ['DE', 'FR'] });
  const path = `/vod/${hiddenId}/token/${token}/hls/manifest.m3u8`;
  const of = (country: string) => server.statusOf(path, { 'x-country': country });
  expect([await of('DE'), await of('FR'), await of('US'), await of('')]).toEqual([200, 200, 403, 403]);
  const unknown = await server.ask(path, { ...one, 'x-country': 'none' });
  expect(unknown.status).toBe(403);
  expect(unknown.body.toString()).toContain('no country database');
});

it('has no place in addresses that are too long', async () => {
  await using server = await started();
  const long = await server.sign(privateStream, { x: 'y'.repeat(2000) });
  expect(await server.statusOf(`/private/${long}/${liveAssets[0]}`)).toBe(414);
  const refused = await server.sign(privateStream, { x: 'y'.repeat(1200) });
  expect(await server.statusOf(`/private/${refused}/${liveAssets[0]}`)).toBe(403);
});

describe.each(protocols)('a playback policy over %s', protocol => {
  it('restricts public media and pages to sites, and keeps shared caches from serving them', async () => {
    await using server = await started(protocol, { allowedDomains: ['example.com', '*.example.net'] });
    const broadcast = server.begin('b2');
    broadcast.mediaByName.set('part-1.m4s', [Buffer.from('a part')]);
    const paths = [
      `/vod/${videoId}`,
      `/vod/${videoId}/hls/manifest.m3u8`,
      `/vod/${videoId}/hls/720p/video-1-0.m4s`,
      `/vod/${videoId}/mp4/source.mp4?dl=1`,
      `/vod/${videoId}/thumbnail.jpg`,
      `/live/${publicStream}`,
      `/${publicStream}.m3u8`,
      `/${publicStream}/b2/source/index.m3u8`,
      `/${publicStream}/b2/source/part-1.m4s`,
    ];
    for (const path of paths) {
      const allowed = await server.ask(path, { ...one, referer: 'https://example.com/page' });
      expect([path, allowed.status]).toEqual([path, 200]);
      expect([path, allowed.headers['cache-control']]).toEqual([path, expect.stringMatching(/^private, /)]);
      expect([path, await server.statusOf(path, { origin: 'https://evil.test' })]).toEqual([path, 403]);
      expect([path, await server.statusOf(path, { referer: `${own}/vod/${videoId}` })]).toEqual([path, 200]);
      expect([path, await server.statusOf(path)]).toEqual([path, 200]);
    }
    for (const path of [`/vod/${videoId}`, `/live/${publicStream}`]) {
      const { headers } = await server.ask(path, one);
      expect(headers['content-security-policy']).toMatch(
        /, frame-ancestors 'self' http:\/\/example\.com:\* http:\/\/\*\.example\.net:\*$/,
      );
      expect(headers['referrer-policy']).toBe('same-origin');
    }
  });
});

it('a playback policy refuses requests without a site if it says so', async () => {
  await using server = await started('HTTP/1.1', { allowedDomains: ['example.com'], allowNoReferrer: false });
  const path = `/vod/${videoId}/hls/manifest.m3u8`;
  expect(await server.statusOf(path)).toBe(403);
  expect(await server.statusOf(path, { origin: 'null' })).toBe(403);
  expect(await server.statusOf(path, { referer: `${own}/vod/${videoId}` })).toBe(200);
  expect(await server.statusOf(path, { host: 'other.test', referer: 'http://other.test/vod' })).toBe(200);
});

it('a playback policy knows the pages of this server by the addresses that the operator named', async () => {
  const hosts = new Set([new URL(own).host, 'node-a.example.org:8080']);
  await using server = await started('HTTP/1.1', { allowedDomains: ['example.com'] }, hosts);
  const path = `/vod/${videoId}/hls/manifest.m3u8`;
  const of = (site: string) => server.statusOf(path, { host: new URL(site).host, origin: site });
  expect([await of(own), await of('http://node-a.example.org:8080')]).toEqual([200, 200]);
  expect([await of('http://other.test'), await of('http://node-a.example.org')]).toEqual([403, 403]);
  expect(await of('https://example.com')).toBe(200);
});

it('a playback policy allows and blocks countries', async () => {
  await using only = await started('HTTP/1.1', { allowedCountries: ['DE', 'US'], blockedCountries: ['US'] });
  const path = `/vod/${videoId}/hls/manifest.m3u8`;
  const statuses = (server: typeof only) =>
    Promise.all(
      ['DE', 'US', 'FR', '', 'none'].map(country => server.statusOf(path, { 'x-country': country })),
    );
  expect(await statuses(only)).toEqual([200, 403, 403, 403, 403]);
  await using but = await started('HTTP/1.1', { blockedCountries: ['US'] });
  expect(await statuses(but)).toEqual([200, 403, 200, 200, 403]);
});

it('a playback policy applies to signed tokens, too', async () => {
  await using server = await started('HTTP/1.1', { allowedDomains: ['example.com', 'example.net'] });
  const token = await server.sign(hiddenId, { domains: ['example.com', 'example.org'] });
  const path = `/vod/${hiddenId}/token/${token}/hls/manifest.m3u8`;
  const of = (site: string) => server.statusOf(path, { origin: `https://${site}` });
  expect([await of('example.com'), await of('example.net'), await of('example.org')]).toEqual([
    200, 403, 403,
  ]);
  const { headers } = await server.ask(`/vod/${hiddenId}?token=${token}`, one);
  expect(String(headers['content-security-policy']).match(/frame-ancestors/g)).toHaveLength(3);
});
