import { createReadStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type ApiVideoClient from '@api.video/nodejs-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pngImage } from '../support/images.ts';
import { ClientCoverage } from '../support/node-client.ts';
import { sandboxKey, startApi, type TestApi } from '../support/start-api.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { chunkBytes, digestOf, digestOfFile, noise } from './upload-fixture.ts';

const coverage = new ClientCoverage();
let server: TestApi;
let client: ApiVideoClient;

beforeAll(async () => {
  server = await startApi({ videos: { restoreDays: () => 90 } });
  client = clientWith();
});
afterAll(() => server.stop());

function clientWith(options: { chunkSize?: number; apiKey?: string } = {}): ApiVideoClient {
  return coverage.client({ apiKey: sandboxKey, baseUri: server.baseUrl, ...options });
}

async function fileOf(bytes: Buffer, name = 'noise.mp4'): Promise<string> {
  const path = join(await testTempDir(), name);
  await writeFile(path, bytes);
  return path;
}

/** Digest of the source that was put together for a video. */
function stored(videoId: string): Promise<string> {
  const path = join(server.dataDir, 'vod', videoId, 'source');
  return waitUntil(() => digestOfFile(path).catch(() => undefined), { what: 'the assembled source' });
}

describe('videos, by the Node client of the reference API,', () => {
  test('are created with everything the client can send', async () => {
    const theme = await client.playerThemes.create({ name: 'Night' });
    const mark = await client.watermarks.upload(await fileOf(pngImage(4, 4), 'mark.png'));
    const source = await client.videos.create({ title: 'Original' });
    const bytes = noise(2_000);
    await client.videos.upload(source.videoId, await fileOf(bytes));
    await stored(source.videoId);
    const { headers, body: video } = await client.videos.createWithResponseHeaders({
      title: 'Harbour',
      description: 'Boats',
      source: source.videoId,
      _public: false,
      panoramic: true,
      mp4Support: false,
      playerId: theme.playerId!,
      tags: ['sea', 'two words'],
      metadata: [{ key: 'shot', value: '12' }],
      clip: { startTimecode: '00:00:01', endTimecode: '00:00:02.500' },
      watermark: {
        id: mark.watermarkId!,
        top: '10px',
        left: '5%',
        bottom: '0px',
        right: '0%',
        width: '25%',
        height: 'initial',
        opacity: '70%',
      },
      language: 'fr',
      transcript: false,
      transcriptSummary: false,
      transcriptSummaryAttributes: ['abstract', 'takeaways'],
    });
    expect(headers['content-type']).toBe('application/json');
    expect(Number(headers['x-ratelimit-remaining'])).toBeGreaterThan(0);
    expect(video).toMatchObject({
      title: 'Harbour',
      description: 'Boats',
      _public: false,
      panoramic: true,
      mp4Support: false,
      playerId: theme.playerId,
      tags: ['sea', 'two words'],
      metadata: [{ key: 'shot', value: '12' }],
      language: 'fr',
      languageOrigin: 'api',
      discarded: false,
      source: { uri: `/videos/${video.videoId}/source` },
    });
    expect(video.createdAt).toBeInstanceOf(Date);
    expect(Date.now() - video.createdAt!.getTime()).toBeLessThan(60_000);
    expect(video.assets?.mp4).toBeUndefined();
    expect(await client.videos.get(video.videoId)).toMatchObject({ title: 'Harbour', language: 'fr' });
    const { body: status } = await client.videos.getStatusWithResponseHeaders(video.videoId);
    expect(status.ingest?.status).toMatch(/^ingest(ing|ed)$/);
  });

  test('are changed in what is sent and nothing else, and by nothing when nothing is sent', async () => {
    const theme = await client.playerThemes.create();
    const { videoId } = await client.videos.create({
      title: 'Before',
      tags: ['a', 'b'],
      description: 'kept',
    });
    const changes = {
      playerId: theme.playerId!,
      title: 'After',
      _public: false,
      panoramic: true,
      mp4Support: false,
      tags: ['c'],
      metadata: [{ key: 'k', value: 'v' }],
      language: 'en' as const,
    };
    const asked = { transcript: false, transcriptSummary: false, transcriptSummaryAttributes: [] };
    expect(await client.videos.update(videoId, { ...changes, ...asked })).toMatchObject({
      ...changes,
      description: 'kept',
    });
    expect(await client.videos.update(videoId)).toMatchObject({ ...changes, description: 'kept' });
    const without = await client.videos.update(videoId, { playerId: null, metadata: [], description: '' });
    expect(without).toMatchObject({ title: 'After', tags: ['c'], metadata: [], description: '' });
    expect(without.playerId).toBeUndefined();
  });

  test.each([
    ['transcript', { transcript: true }],
    ['transcriptSummary', { transcriptSummary: true, transcriptSummaryAttributes: ['abstract' as const] }],
  ])('say that %s is not available here', async (name, wish) => {
    const { videoId } = await client.videos.create({ title: 'No model' });
    for (const ask of [
      () => client.videos.create({ title: 'Heard', ...wish }),
      () => client.videos.update(videoId, wish),
    ]) {
      await expect(ask()).rejects.toMatchObject({
        message: 'Invalid attributes.',
        code: 400,
        problemDetails: {
          type: expect.stringMatching(/\/invalid-attribute$/),
          problems: [{ name, detail: expect.stringMatching(/not available/) }],
        },
      });
    }
  });

  test('are listed, filtered, sorted and paged', async () => {
    for (const title of ['Delta', 'Alpha', 'Echo']) {
      await client.videos.create({
        title: `${title} of the list`,
        description: `About ${title}`,
        tags: ['list test', title],
        metadata: [
          { key: 'suite', value: 'list' },
          { key: 'the name', value: `${title} & co` },
        ],
      });
    }
    type Query = Parameters<typeof client.videos.list>[0];
    const titles = async (query: Query) =>
      (await client.videos.list(query)).data.map(video => video.title?.split(' ')[0]);
    const tags = ['list test'];
    expect(await titles({ tags, sortBy: 'title', sortOrder: 'asc' })).toEqual(['Alpha', 'Delta', 'Echo']);
    expect(await titles({ tags, sortBy: 'title', sortOrder: 'desc' })).toEqual(['Echo', 'Delta', 'Alpha']);
    expect(await titles({ tags: ['list test', 'Echo'] })).toEqual(['Echo']);
    expect(await titles({ metadata: { suite: 'list', 'the name': 'Delta & co' } })).toEqual(['Delta']);
    expect(await titles({ title: 'alpha of' })).toEqual(['Alpha']);
    expect(await titles({ description: 'about echo' })).toEqual(['Echo']);
    expect(await titles({ liveStreamId: 'li0000000000000000000000' })).toEqual([]);
    const page = await client.videos.list({ tags, currentPage: 2, pageSize: 2 });
    expect(page.pagination).toMatchObject({
      currentPage: 2,
      pageSize: 2,
      pagesTotal: 2,
      itemsTotal: 3,
      currentPageItems: 1,
      links: ['self', 'first', 'previous', 'last'].map(rel => ({ rel, uri: expect.any(String) })),
    });

    const [echo] = (await client.videos.list({ tags: ['Echo'] })).data;
    await client.videos.update(echo!.videoId, { tags });
    expect(await titles({ tags: ['list test', 'Echo'] })).toEqual([]);
    const { headers, body } = await client.videos.listWithResponseHeaders();
    expect(headers['content-type']).toBe('application/json');
    expect(body.data.length).toBeGreaterThan(2);
  });

  test('are thrown away, listed there, and restored', async () => {
    const { videoId } = await client.videos.create({
      title: 'Thrown away',
      description: 'by mistake',
      tags: ['gone'],
      metadata: [{ key: 'k', value: 'v' }],
    });
    await client.videos.delete(videoId);
    await expect(client.videos.get(videoId)).rejects.toMatchObject({ code: 404 });
    const discarded = await client.videos.getDiscarded(videoId);
    expect(discarded).toMatchObject({ videoId, discarded: true, assets: null });
    expect(discarded.deletesAt!.getTime() - discarded.discardedAt!.getTime()).toBe(90 * 86_400_000);
    const filters = { title: 'thrown', description: 'mistake', tags: ['gone'], metadata: { k: 'v' } };
    const list = await client.videos.listDiscarded({
      ...filters,
      sortBy: 'createdAt',
      sortOrder: 'desc',
      currentPage: 1,
      pageSize: 10,
    });
    expect(list.data.map(video => video.videoId)).toEqual([videoId]);
    const recorded = await client.videos.listDiscarded({ liveStreamId: 'li0000000000000000000000' });
    expect(recorded.data).toEqual([]);
    await expect(client.videos.updateDiscarded(videoId, { discarded: true })).rejects.toMatchObject({
      code: 400,
      problemDetails: { problems: [{ name: 'discarded', detail: 'Value must be false.' }] },
    });
    expect(await client.videos.updateDiscarded(videoId)).toMatchObject({ discarded: true });
    const restored = await client.videos.updateDiscarded(videoId, { discarded: false });
    expect(restored).toMatchObject({ discarded: false, assets: { hls: expect.any(String) } });
    expect((await client.videos.get(videoId)).title).toBe('Thrown away');
  });

  test('take a thumbnail before they have a source: a file, a stream, a buffer, a timecode', async () => {
    const { videoId } = await client.videos.create({ title: 'No source yet' });
    const path = await fileOf(pngImage(16, 9), 'image.png');
    const picked = await client.videos.pickThumbnail(videoId, { timecode: '00:15:22.05' });
    expect(picked.videoId).toBe(videoId);
    for (const file of [path, createReadStream(path), await readFile(path)]) {
      const { assets } = await client.videos.uploadThumbnail(videoId, file);
      expect(assets?.thumbnail).toMatch(/\/thumbnail\.jpg$/);
    }
  });
});

describe('uploads, by the Node client of the reference API,', () => {
  test('in one piece tell how far they are', async () => {
    const { videoId } = await client.videos.create({ title: 'Whole' });
    const bytes = noise(558_000);
    const told: number[] = [];
    const video = await client.videos.upload(videoId, await fileOf(bytes), ({ uploadedBytes }) => {
      told.push(uploadedBytes);
    });
    expect(video).toMatchObject({ videoId, title: 'Whole' });
    expect(told.at(-1)).toBeGreaterThanOrEqual(bytes.length);
    expect(await stored(videoId)).toBe(digestOf(bytes));
    await expect(client.videos.upload(videoId, await fileOf(noise(10)))).rejects.toMatchObject({
      code: 400,
      message: 'The source of the video is already uploaded.',
    });
  });

  test('in chunks tell which one is on its way, and are joined', async () => {
    const bytes = noise(10 * 1024 ** 2 + 17);
    const path = await fileOf(bytes);
    const chunked = clientWith({ chunkSize: chunkBytes });
    const { videoId } = await chunked.videos.create({ title: 'In parts' });
    const events = new Set<string>();
    const { headers, body } = await chunked.videos.uploadWithResponseHeaders(videoId, path, event => {
      events.add(`${event.currentChunk}/${event.chunksCount} of ${event.totalBytes}`);
    });
    expect([headers['content-type'], body.title]).toEqual(['application/json', 'In parts']);
    expect([...events]).toEqual([0, 1, 2].map(chunk => `${chunk}/3 of ${bytes.length}`));
    const { ingest } = await chunked.videos.getStatus(videoId);
    expect(ingest?.receivedParts).toEqual({ parts: [1, 2, 3], total: 3 });
    expect(await stored(videoId)).toBe(digestOf(bytes));
  });

  test('in a progressive session learn from the last part how many there were', async () => {
    const parts = [noise(chunkBytes), noise(chunkBytes), noise(4_321)];
    const [one, two, three] = await Promise.all(parts.map(part => fileOf(part)));
    const { videoId } = await client.videos.create({ title: 'Progressive' });
    const session = client.videos.createUploadProgressiveSession(videoId);
    await session.uploadPart(one!);
    await session.uploadPart(two!);
    expect((await client.videos.getStatus(videoId)).ingest).toMatchObject({
      status: 'uploading',
      receivedParts: { parts: [1, 2], total: null },
    });
    const last = await session.uploadLastPart(three!);
    expect(last.title).toBe('Progressive');
    expect(await stored(videoId)).toBe(digestOf(Buffer.concat(parts)));
  });

  test('with a token need no key: whole, in chunks, and progressively', async () => {
    const { token } = await client.uploadTokens.createToken({ ttl: 3_600 });
    const keyless = clientWith({ chunkSize: chunkBytes, apiKey: '' });
    const small = noise(1_000);
    const one = await keyless.videos.uploadWithUploadToken(token!, await fileOf(small, 'a film.mp4'));
    expect(one.title).toBe('a film.mp4');
    expect(await stored(one.videoId)).toBe(digestOf(small));

    const large = noise(2 * chunkBytes + 5);
    const chunks = new Set<string>();
    const { headers, body: many } = await keyless.videos.uploadWithUploadTokenWithResponseHeaders(
      token!,
      await fileOf(large, 'large.mp4'),
      ({ currentChunk, chunksCount }) => chunks.add(`${currentChunk}/${chunksCount}`),
    );
    expect([headers['content-type'], many.title]).toEqual(['application/json', 'large.mp4']);
    expect([...chunks]).toEqual(['0/3', '1/3', '2/3']);
    expect(await stored(many.videoId)).toBe(digestOf(large));

    const session = keyless.videos.createUploadWithUploadTokenProgressiveSession(token!);
    const parts = [noise(chunkBytes), noise(99)];
    await session.uploadPart(await fileOf(parts[0]!, 'first.mp4.part.a'));
    const last = await session.uploadLastPart(await fileOf(parts[1]!, 'first.mp4.part.b'));
    expect(last.title).toBe('first.mp4.part.a');
    expect(await stored(last.videoId)).toBe(digestOf(Buffer.concat(parts)));
    await client.uploadTokens.deleteToken(token!);
    const refused = keyless.videos.uploadWithUploadToken(token!, await fileOf(small));
    await expect(refused).rejects.toMatchObject({ code: 401 });
  });
});

test('upload tokens, by the Node client of the reference API, are made, listed and deleted', async () => {
  const { body: unlimited } = await client.uploadTokens.createTokenWithResponseHeaders();
  expect(unlimited).toMatchObject({ token: expect.any(String), ttl: 0, createdAt: expect.any(Date) });
  expect(unlimited.expiresAt).toBeUndefined();
  const hour = await client.uploadTokens.createToken({ ttl: 3_600 });
  expect(hour.expiresAt!.getTime() - hour.createdAt!.getTime()).toBe(3_600_000);
  const { data } = await client.uploadTokens.list({
    sortBy: 'ttl',
    sortOrder: 'desc',
    currentPage: 1,
    pageSize: 100,
  });
  expect(data.map(({ token }) => token)).toEqual([hour.token, unlimited.token]);
  expect(await client.uploadTokens.getToken(hour.token!)).toEqual(hour);
  await client.uploadTokens.deleteToken(hour.token!);
  await expect(client.uploadTokens.getToken(hour.token!)).rejects.toMatchObject({ code: 404 });
  await expect(client.uploadTokens.createToken({ ttl: -1 })).rejects.toMatchObject({
    code: 400,
    problemDetails: { name: 'ttl' },
  });
});

test('nothing is left that the Node client can do with videos and upload tokens', () => {
  expect(coverage.missing('videos', client.videos)).toEqual([]);
  expect(coverage.missing('uploadTokens', client.uploadTokens)).toEqual([]);
});
