import { createPrivateKey } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CreatedStream } from '../../scripts/server-process.ts';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { fixture } from '../support/fixtures.ts';
import { recordTags, replay } from '../support/replay.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { signToken } from '../support/sign-token.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';

interface VideoAnswer {
  readonly videoId: string;
  readonly public: boolean;
  readonly expiresAt?: string;
  readonly playbackPolicy?: { readonly allowedDomains: readonly string[] };
  readonly source: { readonly clippedFrom?: object };
  readonly assets: {
    readonly player: string;
    readonly hls: string;
    readonly mp4: string;
    readonly thumbnail: string;
  };
}

const shop = 'https://shop.example';
const elsewhere = 'https://elsewhere.example';
const shopOnly = { allowedDomains: ['shop.example'] };

let server: TestServer;
let tags: FlvTag[];
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  [server, tags] = await Promise.all([startServer(), recordTags({ seconds: 120 })]);
});
afterAll(async () => {
  for (const stop of stops) await stop();
  await server?.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape are read.
async function call(method: string, path: string, body?: unknown): Promise<any> {
  const response = await server.api(method, path, body);
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

async function broadcast(attributes: Record<string, unknown>): Promise<CreatedStream> {
  const stream = await server.createStream();
  await call('PATCH', `/live-streams/${stream.liveStreamId}`, { viewerClips: true, ...attributes });
  const client = await RtmpClient.connect({ port: server.app.rtmpPort });
  await client.publish(stream.streamKey);
  const signal = new AbortController();
  const sent = replay(client, tags, { signal: signal.signal });
  stops.push(async () => {
    signal.abort();
    await sent;
    await client.close();
  });
  return stream;
}

/** Requests as a viewer on a site of their own, with a private token for one viewer. */
async function statusOn(site: string, url: string): Promise<number> {
  const response = await fetch(new URL(url, server.baseUrl), {
    headers: { origin: site, 'user-agent': 'one' },
  });
  await response.arrayBuffer();
  return response.status;
}

async function signer() {
  const { signingKeyId, privateKey: text } = await call('POST', '/account/signing-keys', { name: 'Site' });
  const privateKey = createPrivateKey(text);
  const sign = (sub: string, claims: Record<string, unknown>): Promise<string> =>
    signToken({ id: signingKeyId, algorithm: 'ES256', privateKey }, { sub, ...claims });
  return { sign, revoke: () => call('DELETE', `/account/signing-keys/${signingKeyId}`) };
}

async function clipAsViewer(liveStreamId: string, query = ''): Promise<{ videoId: string; url: string }> {
  return waitUntil(
    async () => {
      const response = await fetch(`${server.baseUrl}/clips/${liveStreamId}${query}`, {
        method: 'POST',
        body: JSON.stringify({ lastSeconds: 5 }),
        headers: { 'content-type': 'application/json', origin: shop },
      });
      const json = (await response.json()) as { videoId: string; url: string };
      if (response.status === 409) return undefined;
      expect([response.status, json]).toEqual([201, json]);
      return json;
    },
    { what: 'media to clip' },
  );
}

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

/** The same link for what is beside the page of a private video. */
function assetsOf(url: string): string[] {
  const { pathname, searchParams } = new URL(url);
  const root = `${pathname}/token/${searchParams.get('token')}`;
  return [
    `${pathname}?token=${searchParams.get('token')}`,
    ...['hls/manifest.m3u8', 'mp4/source.mp4', 'thumbnail.jpg', 'state'].map(name => `${root}/${name}`),
  ];
}

test('the clip of a viewer plays where and as long as the token of the viewer did', async () => {
  const { sign } = await signer();
  const { liveStreamId } = await broadcast({ public: false });
  const claims = { exp: inSeconds(3_600), domains: ['shop.example'] };
  const clip = await clipAsViewer(liveStreamId, `?token=${await sign(liveStreamId, claims)}`);
  for (const path of assetsOf(clip.url)) {
    expect([path, await statusOn(elsewhere, path)]).toEqual([path, 403]);
  }
  expect(await statusOn(shop, clip.url)).toBe(200);
  // Clocks may differ, so that this token is accepted.
  const late = await sign(liveStreamId, { exp: inSeconds(-3) });
  const ended = await clipAsViewer(liveStreamId, `?token=${late}`);
  for (const path of assetsOf(ended.url)) {
    expect([path, await statusOn(shop, path)]).toEqual([path, 403]);
  }
  const refused = await fetch(ended.url, { headers: { accept: 'text/html', 'user-agent': 'one' } });
  expect(await refused.text()).toContain('has expired');

  // A copy of the clip is no way out.
  const copy: VideoAnswer = await call('POST', '/videos', { title: 'A copy', source: clip.videoId });
  expect(copy.public).toBe(false);
  expect(await statusOn(elsewhere, copy.assets.player)).toBe(403);
  expect(await statusOn(shop, copy.assets.player)).toBe(200);

  // The owner decides for all viewers of the clip, with a token of its own or by a policy.
  const own = await sign(ended.videoId, { exp: inSeconds(3_600) });
  expect(await statusOn(elsewhere, `/vod/${ended.videoId}?token=${own}`)).toBe(200);
  await call('PATCH', `/videos/${clip.videoId}`, { title: 'Still limited' });
  expect(await statusOn(elsewhere, clip.url)).toBe(403);
  await call('PATCH', `/videos/${clip.videoId}`, { playbackPolicy: {} });
  for (const { videoId } of [clip, copy]) {
    const { assets }: VideoAnswer = await call('GET', `/videos/${videoId}`);
    expect(await statusOn(elsewhere, assets.player)).toBe(200);
  }
});

test('the clip of a viewer ends when the key of the token is revoked', async () => {
  const { sign, revoke } = await signer();
  const { liveStreamId } = await broadcast({ public: false });
  const clip = await clipAsViewer(
    liveStreamId,
    `?token=${await sign(liveStreamId, { exp: inSeconds(3_600) })}`,
  );
  expect(await statusOn(shop, clip.url)).toBe(200);
  await revoke();
  await waitUntil(async () => (await statusOn(shop, clip.url)) === 403);
  for (const path of assetsOf(clip.url)) expect([path, await statusOn(shop, path)]).toEqual([path, 403]);
});

test('clips follow the live stream, until their owner decides, and keep it when the live stream is gone', async () => {
  const { liveStreamId } = await broadcast({ playbackPolicy: shopOnly });
  const byViewer = await clipAsViewer(liveStreamId);
  const clip = { lastSeconds: 5 };
  const byOwner: VideoAnswer = await call('POST', '/videos', { title: 'Goal', source: liveStreamId, clip });
  const decided: VideoAnswer = await call('POST', '/videos', {
    title: 'Trailer',
    source: liveStreamId,
    clip,
    public: true,
    playbackPolicy: {},
  });
  const ofClip: VideoAnswer = await call('POST', '/videos', { title: 'Again', source: byOwner.videoId });
  const followers = [byViewer.videoId, byOwner.videoId, ofClip.videoId];
  const view = (videoId: string): Promise<VideoAnswer> => call('GET', `/videos/${videoId}`);
  for (const videoId of followers) {
    expect(await view(videoId)).toMatchObject({ public: true, playbackPolicy: shopOnly });
    expect(await statusOn(elsewhere, `/vod/${videoId}`)).toBe(403);
    expect(await statusOn(shop, `/vod/${videoId}`)).toBe(200);
  }
  expect(await statusOn(elsewhere, `/vod/${decided.videoId}`)).toBe(200);

  const other = { allowedDomains: ['other.example'] };
  await call('PATCH', `/live-streams/${liveStreamId}`, { public: false, playbackPolicy: other });
  for (const videoId of followers) {
    expect(await view(videoId)).toMatchObject({ public: false, playbackPolicy: other });
    expect(await statusOn(shop, `/vod/${videoId}`)).toBe(404);
  }
  expect(await view(decided.videoId)).toMatchObject({ public: true, playbackPolicy: { allowedDomains: [] } });
  // Attributes are inherited independently.
  await call('PATCH', `/videos/${byOwner.videoId}`, { public: true });
  await call('PATCH', `/live-streams/${liveStreamId}`, { public: false, playbackPolicy: shopOnly });
  expect(await view(byOwner.videoId)).toMatchObject({ public: true, playbackPolicy: shopOnly });
  expect(await view(ofClip.videoId)).toMatchObject({ public: true, playbackPolicy: shopOnly });
  await call('DELETE', `/live-streams/${liveStreamId}`);
  expect(await view(byViewer.videoId)).toMatchObject({ public: false, playbackPolicy: shopOnly });
});

test.each([
  ['whose broadcast is completed', 'PUT', '/complete'],
  ['that is deleted', 'DELETE', ''],
])('a recording has the policy of its live stream, %s', async (_, method, path) => {
  const { liveStreamId } = await broadcast({ record: true, public: false, playbackPolicy: shopOnly });
  const { assets } = await call('GET', `/live-streams/${liveStreamId}`);
  await clipAsViewer(liveStreamId, new URL(assets.player).search);
  await call(method, `/live-streams/${liveStreamId}${path}`);
  const recording = await waitUntil(async () => {
    const { data } = (await call('GET', `/videos?liveStreamId=${liveStreamId}`)) as { data: VideoAnswer[] };
    return data.find(({ source }) => source.clippedFrom === undefined);
  });
  expect(recording).toMatchObject({ public: false, playbackPolicy: shopOnly });
  expect(await statusOn(elsewhere, recording.assets.player)).toBe(403);
});

const isPlayable = async (videoId: string): Promise<boolean> =>
  (await call('GET', `/videos/${videoId}/status`)).encoding.playable;

async function uploaded(attributes: Record<string, unknown>): Promise<string> {
  const { videoId }: VideoAnswer = await call('POST', '/videos', attributes);
  const film = new FormData();
  film.set('file', await openAsBlob(await fixture('h264-only')), 'pier.mp4');
  await fetch(`${server.baseUrl}/videos/${videoId}/source`, {
    method: 'POST',
    body: film,
    headers: { authorization: `Basic ${Buffer.from(`${server.productionKey}:`).toString('base64')}` },
  });
  await waitUntil(() => isPlayable(videoId));
  return videoId;
}

test('a copy of a video, whole or in part, is as private as the video and expires with it', async () => {
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  const original = await uploaded({ title: 'Pier', public: false, playbackPolicy: shopOnly, expiresAt });
  const copies: VideoAnswer[] = [];
  for (const more of [{}, { clip: { startTimecode: '0', endTimecode: '2' } }]) {
    copies.push(await call('POST', '/videos', { title: 'A copy', source: original, ...more }));
  }
  const { expiresAt: shown } = await call('GET', `/videos/${original}`);
  for (const copy of copies) {
    expect(copy).toMatchObject({ public: false, playbackPolicy: shopOnly, expiresAt: shown });
    await waitUntil(() => isPlayable(copy.videoId));
    expect(await statusOn(elsewhere, copy.assets.hls)).toBe(403);
    expect(await statusOn(shop, copy.assets.hls)).toBe(200);
  }
  const decided: VideoAnswer = await call('POST', '/videos', {
    title: 'Open',
    source: original,
    public: true,
    playbackPolicy: null,
    expiresAt: null,
  });
  expect(decided.public).toBe(true);
  expect(decided).not.toHaveProperty('expiresAt');
  expect(decided).not.toHaveProperty('playbackPolicy');
  await call('PATCH', `/videos/${original}`, { playbackPolicy: { blockedCountries: ['FR'] } });
  for (const { videoId } of copies) {
    expect(await call('GET', `/videos/${videoId}`)).toMatchObject({
      playbackPolicy: { blockedCountries: ['FR'] },
    });
  }
  expect(await call('GET', `/videos/${decided.videoId}`)).not.toHaveProperty('playbackPolicy');
});

test('a copy of a copy follows the original when the copy between them is deleted', async () => {
  const original = await uploaded({ title: 'Pier', public: false, playbackPolicy: shopOnly });
  const copyOf = async (source: string): Promise<string> => {
    const { videoId }: VideoAnswer = await call('POST', '/videos', { title: 'A copy', source });
    await waitUntil(() => isPlayable(videoId));
    return videoId;
  };
  const between = await copyOf(original);
  const copy = await copyOf(between);
  await call('DELETE', `/videos/${between}?permanently=true`);
  const other = { allowedDomains: ['other.example'] };
  await call('PATCH', `/videos/${original}`, { public: true, playbackPolicy: other });
  expect(await call('GET', `/videos/${copy}`)).toMatchObject({ public: true, playbackPolicy: other });
});
