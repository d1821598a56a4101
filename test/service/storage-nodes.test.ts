import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../src/shared/secret.ts';
import { namesIn } from '../../src/storage/folder-names.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { pngImage } from '../support/images.ts';
import { findPostgres } from '../support/postgres.ts';
import { type S3Server, s3Missing, startS3 } from '../support/s3.ts';
import { openTestS3Storage } from '../support/s3-storage.ts';
import {
  type ApiReply,
  basic,
  type StartApiOptions,
  sandboxKey,
  startApi,
  type TestApi,
} from '../support/start-api.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { postgresUrlOf } from '../support/test-database.ts';
import { waitUntil } from '../support/wait-until.ts';
import { chunkBytes, digestOf, fileForm, noise } from './upload-fixture.ts';

const missing = findPostgres() === undefined ? 'PostgreSQL is not installed' : s3Missing;
let s3: S3Server | undefined;
beforeAll(async () => {
  if (missing === undefined) s3 = await startS3();
  else console.log(`Skipped: ${missing}`);
});
afterAll(() => s3?.stop());

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** Two servers with data folders of their own, one database and one storage. */
async function startTwo(options: StartApiOptions = {}): Promise<[TestApi, TestApi, string]> {
  const name = `bucket-${randomUUID()}`;
  await s3!.makeBucket(name);
  const bucket = join(s3!.folder, name);
  const url = new Secret(await postgresUrlOf(await testTempDir()));
  const startOne = async () => {
    const server = await startApi({
      ...options,
      database: dataDir => openDatabase({ dataDir, url }),
      mediaStorage: async dataDir => {
        const storage = await openTestS3Storage({ url: s3!.url(name), dataDir });
        stops.push(() => storage.stop());
        return storage;
      },
    });
    stops.push(() => server.stop());
    return server;
  };
  return [await startOne(), await startOne(), bucket];
}

async function createVideo(server: TestApi): Promise<string> {
  return (await server.call('POST', '/videos', { body: { title: 'A video' } })).json.videoId;
}

function send(server: TestApi, videoId: string, bytes: Buffer, range?: string): Promise<ApiReply> {
  return server.call('POST', `/videos/${videoId}/source`, {
    body: fileForm(bytes),
    headers: range === undefined ? undefined : { 'content-range': range },
  });
}

const statusOf = async (server: TestApi, videoId: string) =>
  (await server.api.uploads.service.ingestOf(videoId))?.status;

async function isAssembled(server: TestApi, bucket: string, videoId: string): Promise<boolean> {
  const hasChunks = (await namesIn(join(bucket, 'uploads', videoId))).length > 0;
  const hasSource = existsSync(join(bucket, 'vod', videoId, 'source'));
  return (await statusOf(server, videoId)) === 'uploaded' && hasSource && !hasChunks;
}

describe.skipIf(missing !== undefined)('two servers with one storage', () => {
  it('store a file before they acknowledge it', async () => {
    const [first, second, bucket] = await startTwo();
    const videoId = await createVideo(first);
    const file = noise(1_000_000);
    expect((await send(second, videoId, file)).status).toBe(201);
    expect((await second.api.uploads.service.ingestOf(videoId))?.filesize).toBe(file.length);
    await waitUntil(() => isAssembled(first, bucket, videoId));
    expect(digestOf(await readFile(join(bucket, 'vod', videoId, 'source')))).toBe(digestOf(file));
    expect((await send(first, videoId, file)).json.type).toMatch('video-source-already-uploaded');
    expect(await namesIn(join(bucket, 'uploads'))).toEqual([]);
  });

  it('join the parts of an upload that came to either of them', async () => {
    const servers = await startTwo();
    const [first, second, bucket] = servers;
    const videoId = await createVideo(first);
    const parts = [noise(chunkBytes), noise(chunkBytes + 1), noise(chunkBytes + 2), noise(3)];
    const order = [2, 0, 1, 3];
    for (const index of order) {
      const server = index % 2 === 0 ? first : second;
      expect((await send(server, videoId, parts[index]!, `part ${index + 1}/4`)).status).toBe(201);
    }
    await waitUntil(() => isAssembled(second, bucket, videoId));
    const source = await readFile(join(bucket, 'vod', videoId, 'source'));
    expect(digestOf(source)).toBe(digestOf(Buffer.concat(parts)));
    expect((await send(second, videoId, parts[2]!, 'part 3/4')).status).toBe(201);
    expect((await send(second, videoId, noise(chunkBytes), 'part 3/4')).status).toBe(400);
  });

  it('create one video for chunks with a token that arrive at both at once', async () => {
    const [first, second, bucket] = await startTwo();
    const { json: token } = await first.call('POST', '/upload-tokens', { body: {} });
    const parts = Array.from({ length: 4 }, () => noise(chunkBytes));
    const answers = await Promise.all(
      parts.map((part, index) =>
        (index % 2 === 0 ? first : second).call('POST', `/upload?token=${token.token}`, {
          body: fileForm(part),
          headers: { 'content-range': `part ${index + 1}/4` },
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    const [videoId, ...others] = new Set(answers.map(({ json }) => json.videoId as string));
    expect(others).toEqual([]);
    await waitUntil(() => isAssembled(first, bucket, videoId!));
    const source = await readFile(join(bucket, 'vod', videoId!, 'source'));
    expect(digestOf(source)).toBe(digestOf(Buffer.concat(parts)));
  });

  it('accept one of two files that are sent to both at once', async () => {
    const [first, second, bucket] = await startTwo();
    const videoId = await createVideo(first);
    const files = [noise(1_000_000), noise(1_000_001)];
    const answers = await Promise.all([send(first, videoId, files[0]!), send(second, videoId, files[1]!)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
    await waitUntil(() => isAssembled(first, bucket, videoId));
    const accepted = files[answers.findIndex(({ status }) => status === 201)]!;
    expect(digestOf(await readFile(join(bucket, 'vod', videoId, 'source')))).toBe(digestOf(accepted));
  });

  it('count what the other one is receiving, and keep its video', async () => {
    const [first, second] = await startTwo({ quotas: { maxUploads: 1, maxStorageBytes: 12_000_000 } });
    const videoId = await createVideo(first);
    const other = await createVideo(first);
    const form = new Response(fileForm(noise(8_000_000)));
    const body = Buffer.from(await form.arrayBuffer());
    const sent = request({
      port: first.listener.httpPort,
      path: `/videos/${videoId}/source`,
      method: 'POST',
      headers: {
        authorization: basic(sandboxKey),
        'content-type': form.headers.get('content-type')!,
        'content-length': body.length,
      },
    });
    sent.write(body.subarray(0, 1000));
    await waitUntil(() => second.api.quotas.isReceiving(videoId));
    expect((await send(second, other, noise(1000))).json.type).toMatch('upload-limit-reached');
    const chunk = await send(second, videoId, noise(chunkBytes), 'part 1/2');
    expect(chunk.json.type).toMatch('storage-limit-reached');
    const inManyDays = Date.now() + 30 * 24 * 3_600_000;
    expect(await second.api.videos.removal.removeEmpty(inManyDays)).toBe(1);
    sent.end(body.subarray(1000));
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(201);
    expect(await second.api.quotas.isReceiving(videoId)).toBe(false);
  });

  it('copy the source of a video', async () => {
    const [first, second, bucket] = await startTwo();
    const from = await createVideo(first);
    const file = noise(100_000);
    expect((await send(first, from, file)).status).toBe(201);
    const { json } = await second.call('POST', '/videos', { body: { title: 'A copy', source: from } });
    await waitUntil(async () => (await statusOf(second, json.videoId)) === 'ingested');
    expect(digestOf(await readFile(join(bucket, 'vod', json.videoId, 'source')))).toBe(digestOf(file));
  });

  it('acknowledge an upload only once the storage that was away has it', async () => {
    const [first, second, bucket] = await startTwo();
    const videoId = await createVideo(first);
    const parts = [noise(chunkBytes), noise(5)];
    expect((await send(first, videoId, parts[0]!, 'part 1/2')).status).toBe(201);
    await s3!.kill();
    let isAcknowledged = false;
    const sent = send(second, videoId, parts[1]!, 'part 2/2').then(({ status }) => {
      isAcknowledged = true;
      return status;
    });
    await waitUntil(() => second.api.quotas.isReceiving(videoId));
    expect((await first.call('GET', `/videos/${videoId}`)).status).toBe(200);
    expect(isAcknowledged).toBe(false);
    await s3!.start();
    expect(await sent).toBe(201);
    await waitUntil(() => isAssembled(first, bucket, videoId));
    const source = await readFile(join(bucket, 'vod', videoId, 'source'));
    expect(digestOf(source)).toBe(digestOf(Buffer.concat(parts)));
  });

  it("show and remove each other's images and captions", async () => {
    const [first, second, bucket] = await startTwo();
    const image = pngImage(4, 4);
    const { json: watermark } = await first.call('POST', '/watermarks', {
      body: fileForm(image, { name: 'w.png' }),
    });
    const shown = await fetch(`${second.baseUrl}/watermarks/${watermark.watermarkId}/image`, {
      headers: { authorization: basic(sandboxKey) },
    });
    expect(Buffer.from(await shown.arrayBuffer())).toEqual(image);
    expect((await second.call('DELETE', `/watermarks/${watermark.watermarkId}`)).status).toBe(204);
    expect(await namesIn(join(bucket, 'watermarks'))).toEqual([]);
    const videoId = await createVideo(first);
    const captions = fileForm(Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n'), { name: 'c.vtt' });
    expect((await first.call('POST', `/videos/${videoId}/captions/en`, { body: captions })).status).toBe(200);
    expect(await namesIn(join(bucket, 'vod', videoId))).toHaveLength(1);
    expect((await second.call('DELETE', `/videos/${videoId}/captions/en`)).status).toBe(204);
    expect(await namesIn(join(bucket, 'vod', videoId))).toEqual([]);
  });
});
