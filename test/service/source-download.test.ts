import { once } from 'node:events';
import { truncate } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { MediaStorage } from '../../src/storage/media-storage.ts';
import { openFilesIn } from '../support/open-files.ts';
import { type S3Server, s3Missing, startS3 } from '../support/s3.ts';
import { openTestS3Storage } from '../support/s3-storage.ts';
import { signIn } from '../support/sign-in.ts';
import { basic, productionKey, sandboxKey, startApi, type TestApi } from '../support/start-api.ts';
import { waitUntil } from '../support/wait-until.ts';
import { noise, UploadsOfTest } from './upload-fixture.ts';

const start = Buffer.from('\0\0\0\x20ftypisom\0\0\x02\0', 'latin1');
const film = Buffer.concat([start, noise(300_000)]);

let s3: S3Server | undefined;
beforeAll(async () => {
  if (s3Missing === undefined) s3 = await startS3();
  else console.log(`Skipped: ${s3Missing}`);
});
afterAll(() => s3?.stop());

async function s3Storage(dataDir: string): Promise<MediaStorage> {
  const name = `source-${Date.now()}`;
  await s3!.makeBucket(name);
  const storage = await openTestS3Storage({ url: s3!.url(name), dataDir });
  onTestFinished(() => storage.stop());
  return storage;
}

async function started(options: Parameters<typeof startApi>[0] = {}) {
  const server = await startApi({ isUpgraded: true, ...options });
  onTestFinished(() => server.stop());
  const uploads = new UploadsOfTest(() => server);
  return { server, uploads };
}

function download(server: TestApi, videoId: string, headers: Record<string, string> = {}, method = 'GET') {
  return fetch(`${server.baseUrl}/videos/${videoId}/source`, {
    method,
    headers: { authorization: basic(sandboxKey), ...headers },
  });
}

async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

describe.each([
  ['the data folder', undefined],
  ['object storage', s3Storage],
] as const)('the original of a video in %s', (_, mediaStorage) => {
  const isSkipped = mediaStorage !== undefined && s3Missing !== undefined;

  it.skipIf(isSkipped)('is downloaded whole, in part, and not again', async () => {
    const { server, uploads } = await started(mediaStorage === undefined ? {} : { mediaStorage });
    const videoId = await uploads.video({ title: 'Café: the film.mp4' });
    expect((await uploads.send(videoId, film)).status).toBe(201);
    // Waits for object storage, where the file is assembled after the answer.
    await waitUntil(async () => (await download(server, videoId, {}, 'HEAD')).status === 200);

    const whole = await download(server, videoId);
    expect(whole.status).toBe(200);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'accept-ranges': 'bytes',
      'cache-control': 'no-store',
      'content-disposition': `attachment; filename="Caf_ the film.mp4"; filename*=UTF-8''Caf%C3%A9%20the%20film.mp4`,
      'content-length': String(film.length),
      'content-type': 'video/mp4',
    });
    expect((await bytesOf(whole)).equals(film)).toBe(true);

    const etag = whole.headers.get('etag')!;
    const part = await download(server, videoId, { range: 'bytes=100000-100099', 'if-range': etag });
    expect([part.status, part.headers.get('content-range')]).toEqual([
      206,
      `bytes 100000-100099/${film.length}`,
    ]);
    expect((await bytesOf(part)).equals(film.subarray(100_000, 100_100))).toBe(true);
    const end = await download(server, videoId, { range: 'bytes=-7' });
    expect((await bytesOf(end)).equals(film.subarray(-7))).toBe(true);
    const changed = await download(server, videoId, { range: 'bytes=5-', 'if-range': '"other"' });
    expect([changed.status, (await bytesOf(changed)).length]).toEqual([200, film.length]);
    const beyond = await download(server, videoId, { range: `bytes=${film.length}-` });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${film.length}`]);
    expect(await beyond.json()).toMatchObject({ status: 416, detail: `The file has ${film.length} bytes.` });
    expect((await download(server, videoId, { 'if-none-match': etag })).status).toBe(304);
    const head = await download(server, videoId, { range: 'bytes=0-1' }, 'HEAD');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(film.length)]);
  });
});

describe('the original of a video', () => {
  it('is missing until it is complete, with a reason', async () => {
    const { server, uploads } = await started();
    const answer = await download(server, await uploads.video());
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({
      name: 'videoId',
      detail: expect.stringMatching(/no original file yet/),
    });
  });

  it('belongs to its project, and not to the trash', async () => {
    const { server, uploads } = await started();
    const videoId = await uploads.video();
    await uploads.send(videoId, film);
    const other = await download(server, videoId, { authorization: basic(productionKey) });
    expect(other.status).toBe(404);
    expect((await server.call('DELETE', `/videos/${videoId}`)).status).toBe(204);
    expect((await download(server, videoId)).status).toBe(404);
  });

  it('opens from a link of the dashboard, in the environment and project that the link names', async () => {
    const { server, uploads } = await started();
    const videoId = await uploads.video();
    await uploads.send(videoId, film);
    const cookie = await signIn(server);
    const follow = (query: string, headers: Record<string, string> = {}) =>
      fetch(`${server.baseUrl}/videos/${videoId}/source${query}`, { headers: { cookie, ...headers } });
    expect((await bytesOf(await follow('?environment=sandbox'))).equals(film)).toBe(true);
    expect((await follow('?environment=production')).status).toBe(404);
    expect((await follow('')).status).toBe(401);
    const create = { headers: { cookie }, body: { name: 'Further' } };
    const { projectId } = (await server.call('POST', '/account/projects', create)).json;
    expect((await follow(`?environment=sandbox&project=${projectId}`)).status).toBe(404);
    expect((await follow('?environment=sandbox&project=unknown')).status).toBe(403);
    const foreign = { 'sec-fetch-site': 'cross-site' };
    expect((await follow('?environment=sandbox', foreign)).status).toBe(403);
    const list = `${server.baseUrl}/videos?environment=sandbox`;
    expect((await fetch(list, { headers: { cookie } })).status).toBe(401);
  });

  it('is cut off when it turns out to be shorter', async () => {
    const { server, uploads } = await started();
    const videoId = await uploads.video();
    await uploads.send(videoId, Buffer.concat([start, noise(32 * 1024 ** 2)]));
    const response = await openDownload(server, videoId);
    await truncate(uploads.sourcePath(videoId), 1_000);
    response.on('error', () => {});
    response.resume();
    await new Promise(resolve => response.once('close', resolve));
    expect(response.complete).toBe(false);
  });

  it('is closed when the client stops reading or leaves', async () => {
    const { server, uploads } = await started({ bodyTimeoutMs: 300 });
    const videoId = await uploads.video();
    await uploads.send(videoId, Buffer.concat([start, noise(64 * 1024 ** 2)]));
    const stalled = await openDownload(server, videoId);
    stalled.on('error', () => {});
    const left = await openDownload(server, videoId);
    left.on('error', () => {});
    left.destroy();
    await waitUntil(() => openFilesIn(uploads.sourcePath(videoId)).length === 0);
    expect(stalled.complete).toBe(false);
    stalled.destroy();
  });
});

/** A response of which nothing is read. */
async function openDownload(server: TestApi, videoId: string): Promise<IncomingMessage> {
  const request = get(`${server.baseUrl}/videos/${videoId}/source`, {
    headers: { authorization: basic(sandboxKey) },
  });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  return response;
}
