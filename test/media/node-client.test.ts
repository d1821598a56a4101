import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import ApiVideoClient from '@api.video/nodejs-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixture } from '../support/fixtures.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';

let server: TestServer;
let client: ApiVideoClient;

beforeAll(async () => {
  server = await startServer();
  client = new ApiVideoClient({ apiKey: server.productionKey, baseUri: server.baseUrl });
});
afterAll(() => server.stop());

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function stored(videoId: string): Promise<string> {
  const path = join(server.dataDir, 'vod', videoId, 'source');
  await waitUntil(() => stat(path), { what: 'the assembled source' });
  return digest(await readFile(path));
}

describe('the Node client of the reference API, unchanged', () => {
  test('uploads a film, sees it become playable, and downloads its mp4', async () => {
    const video = await client.videos.create({
      title: 'Harbour',
      tags: ['sea'],
      metadata: [{ key: 'shot', value: '12' }],
    });
    expect(video).toMatchObject({ title: 'Harbour', _public: true, tags: ['sea'] });
    expect((await client.videos.getStatus(video.videoId)).encoding?.playable).toBe(false);

    let reported = 0;
    const uploaded = await client.videos.upload(video.videoId, await fixture('h264-aac'), event => {
      reported = event.uploadedBytes;
    });
    expect(uploaded.videoId).toBe(video.videoId);
    expect(reported).toBeGreaterThan(0);

    const status = await waitUntil(
      async () => {
        const now = await client.videos.getStatus(video.videoId);
        return now.encoding?.qualities?.every(({ status }) => status === 'encoded') === true &&
          now.encoding.qualities.length > 0
          ? now
          : undefined;
      },
      { what: 'all qualities' },
    );
    expect(status.ingest?.status).toBe('uploaded');
    expect(status.encoding).toMatchObject({
      playable: true,
      qualities: [
        { type: 'hls', quality: '240p', status: 'encoded' },
        { type: 'mp4', quality: '240p', status: 'encoded' },
      ],
      metadata: {
        width: 320,
        height: 180,
        duration: 6,
        framerate: 30,
        videoCodec: 'h264',
        audioCodec: 'aac',
        aspectRatio: '16/9',
      },
    });
    const { assets } = await client.videos.get(video.videoId);
    const playlist = await fetch(assets!.hls!);
    expect(playlist.status).toBe(200);
    expect(await playlist.text()).toContain('240p/manifest.m3u8');
    const mp4 = await fetch(assets!.mp4!);
    expect([mp4.status, mp4.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    await mp4.body?.cancel();
  });

  test('names the language of a video, which its audio is played in', async () => {
    const { videoId, assets } = await client.videos.create({ title: 'Harbour' });
    await client.videos.upload(videoId, await fixture('h264-aac'));
    const languageWhen = (isPlayable: (text: string) => boolean) =>
      waitUntil(async () => {
        const text = await (await fetch(assets!.hls!)).text();
        return isPlayable(text) && /TYPE=AUDIO.*LANGUAGE="([^"]*)"/.exec(text)?.[1];
      });
    expect(await languageWhen(text => text.includes('TYPE=AUDIO'))).toBe('und');
    await client.videos.update(videoId, { language: 'fr' });
    expect(await languageWhen(() => true)).toBe('fr');
  });

  test('uploads audio alone, which has no mp4', async () => {
    const { videoId, assets } = await client.videos.create({ title: 'Fog horn' });
    expect(assets?.mp4).toContain(`/vod/${videoId}/mp4/source.mp4`);
    await client.videos.upload(videoId, await fixture('audio-only'));
    await waitUntil(async () => (await client.videos.getStatus(videoId)).encoding?.playable, {
      what: 'the audio',
    });
    const video = await client.videos.get(videoId);
    expect(video).toMatchObject({ mp4Support: true, assets: { hls: assets!.hls } });
    expect(video.assets?.mp4).toBeUndefined();
    expect((await fetch(assets!.mp4!)).status).toBe(404);
  });

  test('takes a source from another video', async () => {
    const source = await client.videos.create({ title: 'Original' });
    const path = await fixture('h264-aac-faststart');
    await client.videos.upload(source.videoId, path);
    const copy = await client.videos.create({ title: 'Copy', source: source.videoId });
    expect(await stored(copy.videoId)).toBe(digest(await readFile(path)));
    await client.videos.delete(source.videoId);
    expect(await stored(copy.videoId)).toBe(digest(await readFile(path)));
  });

  test('sets a thumbnail that viewers get as it was sent', async () => {
    const { videoId } = await client.videos.create({ title: 'No source yet' });
    const image = new URL('../../src/web/player/placeholder.jpg', import.meta.url).pathname;
    const { assets } = await client.videos.uploadThumbnail(videoId, image);
    const served = await fetch(assets!.thumbnail!);
    expect(digest(Buffer.from(await served.arrayBuffer()))).toBe(digest(await readFile(image)));
  });

  test('deletes, after which nothing is there', async () => {
    const video = await client.videos.create({ title: 'Short life' });
    await client.videos.delete(video.videoId);
    await expect(client.videos.get(video.videoId)).rejects.toMatchObject({
      code: 404,
      problemDetails: { name: 'videoId' },
    });
  });
});
