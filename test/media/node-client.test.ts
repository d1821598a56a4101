import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ApiVideoClient from '@api.video/nodejs-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixture } from '../support/fixtures.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDirOfTest } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

const mebibyte = 1024 ** 2;
const chunkBytes = 5 * mebibyte;

let server: TestServer;
let client: ApiVideoClient;

beforeAll(async () => {
  server = await startServer();
  client = clientWith();
});
afterAll(() => server.stop());

function clientWith(options: { chunkSize?: number; apiKey?: string } = {}): ApiVideoClient {
  return new ApiVideoClient({ apiKey: server.sandboxKey, baseUri: server.baseUrl, ...options });
}

/** A file that is only uploaded, never played: what comes back must be the same bytes. */
async function fileOfNoise(bytes: number): Promise<string> {
  const path = join(await tempDirOfTest(), 'noise.mp4');
  await writeFile(path, randomBytes(bytes));
  return path;
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function stored(videoId: string): Promise<string> {
  const path = join(server.dataDir, 'vod', videoId, 'source');
  await waitUntil(() => stat(path), { what: 'the assembled source', timeoutMs: 20_000 });
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
      { what: 'all qualities', timeoutMs: 60_000 },
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

  test('uploads in parts of its chunk size', async () => {
    const path = await fileOfNoise(10 * mebibyte + 17);
    const chunked = clientWith({ chunkSize: chunkBytes });
    const video = await chunked.videos.create({ title: 'In parts' });
    const uploaded = await chunked.videos.upload(video.videoId, path);
    expect(uploaded.title).toBe('In parts');
    const { ingest } = await chunked.videos.getStatus(video.videoId);
    expect(ingest?.receivedParts).toEqual({ parts: [1, 2, 3], total: 3 });
    expect(await stored(video.videoId)).toBe(digest(await readFile(path)));
  });

  test('uploads in a progressive session, with the number of parts told by the last one', async () => {
    const parts = await Promise.all([fileOfNoise(chunkBytes), fileOfNoise(chunkBytes), fileOfNoise(4_321)]);
    const video = await client.videos.create({ title: 'Progressive' });
    const session = client.videos.createUploadProgressiveSession(video.videoId);
    await session.uploadPart(parts[0]!);
    await session.uploadPart(parts[1]!);
    const last = await session.uploadLastPart(parts[2]!);
    expect(last.title).toBe('Progressive');
    const whole = Buffer.concat(await Promise.all(parts.map(path => readFile(path))));
    expect(await stored(video.videoId)).toBe(digest(whole));
  });

  test('uploads with a token and no key: whole, in parts, and progressively', async () => {
    const token = await client.uploadTokens.createToken({ ttl: 3_600 });
    expect(token.ttl).toBe(3_600);
    const keyless = clientWith({ chunkSize: chunkBytes, apiKey: '' });

    const small = await fileOfNoise(1_000);
    const one = await keyless.videos.uploadWithUploadToken(token.token!, small);
    expect(one.title).toBe('noise.mp4');
    expect(await stored(one.videoId)).toBe(digest(await readFile(small)));

    const large = await fileOfNoise(11 * mebibyte);
    const many = await keyless.videos.uploadWithUploadToken(token.token!, large);
    expect(await stored(many.videoId)).toBe(digest(await readFile(large)));

    const session = keyless.videos.createUploadWithUploadTokenProgressiveSession(token.token!);
    const first = await fileOfNoise(chunkBytes);
    const second = await fileOfNoise(99);
    await session.uploadPart(first);
    const last = await session.uploadLastPart(second);
    expect(last.title).toBe('noise.mp4');
    expect(await stored(last.videoId)).toBe(
      digest(Buffer.concat([await readFile(first), await readFile(second)])),
    );

    const { data } = await client.uploadTokens.list({ sortBy: 'createdAt', sortOrder: 'desc' });
    expect(data.map(item => item.token)).toContain(token.token);
    expect((await client.uploadTokens.getToken(token.token!)).token).toBe(token.token);
    await client.uploadTokens.deleteToken(token.token!);
    await expect(keyless.videos.uploadWithUploadToken(token.token!, small)).rejects.toMatchObject({
      code: 401,
    });
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

  test('lists, filters, sorts and changes', async () => {
    const names = ['Delta', 'Alpha', 'Echo'];
    for (const title of names) {
      await client.videos.create({
        title: `${title} of the list`,
        tags: ['list test', title],
        metadata: [
          { key: 'suite', value: 'list' },
          { key: 'name', value: title },
        ],
      });
    }
    const titles = async (args: Parameters<typeof client.videos.list>[0]) =>
      (await client.videos.list(args)).data.map(video => video.title?.split(' ')[0]);
    expect(await titles({ tags: ['list test'], sortBy: 'title', sortOrder: 'asc' })).toEqual([
      'Alpha',
      'Delta',
      'Echo',
    ]);
    expect(await titles({ tags: ['list test', 'Echo'] })).toEqual(['Echo']);
    expect(await titles({ metadata: { suite: 'list', name: 'Delta' } })).toEqual(['Delta']);
    expect(await titles({ title: 'alpha of' })).toEqual(['Alpha']);
    const page = await client.videos.list({ tags: ['list test'], currentPage: 2, pageSize: 2 });
    expect(page.pagination).toMatchObject({ itemsTotal: 3, pagesTotal: 2, currentPageItems: 1 });

    const [echo] = (await client.videos.list({ tags: ['Echo'] })).data;
    const changed = await client.videos.update(echo!.videoId, {
      tags: ['list test'],
      description: 'changed',
    });
    expect(changed).toMatchObject({ title: 'Echo of the list', description: 'changed' });
    expect(await titles({ tags: ['list test', 'Echo'] })).toEqual([]);
    expect((await client.videos.update(echo!.videoId)).description).toBe('changed');
  });

  test('sets thumbnails on a video without a source, by file, by stream and by timecode', async () => {
    const video = await client.videos.create({ title: 'No source yet' });
    const image = join(await tempDirOfTest(), 'image.jpg');
    await copyFile(new URL('../../src/web/player/placeholder.jpg', import.meta.url), image);
    const byPath = await client.videos.uploadThumbnail(video.videoId, image);
    expect(byPath.assets?.thumbnail).toMatch(/thumbnail\.jpg$/);
    const served = await fetch(byPath.assets!.thumbnail!);
    expect(digest(Buffer.from(await served.arrayBuffer()))).toBe(digest(await readFile(image)));
    await client.videos.uploadThumbnail(video.videoId, createReadStream(image));
    const picked = await client.videos.pickThumbnail(video.videoId, { timecode: '00:15:22.05' });
    expect(picked.videoId).toBe(video.videoId);
  });

  test('uploads a watermark, uses it, and deletes it after the video', async () => {
    const watermark = await client.watermarks.upload(
      new URL('../../src/web/player/placeholder.jpg', import.meta.url).pathname,
    );
    expect(watermark.watermarkId).toMatch(/^watermark_/);
    const { data } = await client.watermarks.list({});
    expect(data.map(item => item.watermarkId)).toContain(watermark.watermarkId);
    const video = await client.videos.create({
      title: 'Marked',
      watermark: { id: watermark.watermarkId!, top: '10px', left: '10px', width: '25%', height: '25%' },
    });
    await client.videos.delete(video.videoId);
    await client.watermarks.delete(watermark.watermarkId!);
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
