import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { basic, sandboxKey, startApi, type TestApi } from '../support/start-api.ts';
import { waitUntil } from '../support/wait-until.ts';
import { chunkBytes, fileForm, noise, UploadsOfTest } from './upload-fixture.ts';

let server: TestApi;
const uploads = new UploadsOfTest(() => server);
const maxStorageBytes = 12_000_000;

afterEach(() => server.stop());

async function start(quotas: { maxStorageBytes?: number; maxUploads?: number }): Promise<void> {
  server = await startApi({
    quotas: { maxUploads: 0, ...quotas },
    uploads: { allowPrivateTargets: true },
  });
}

const usage = async () => (await server.call('GET', '/usage')).json;
const limitOf = ({ status, json: body }: { status: number; json: { type: string; title: string } }) => [
  status,
  body.type.split('/').at(-1),
  body.title,
];
const storageLimit = [400, 'storage-limit-reached', 'Your account has reached the storage limit.'];
const uploadLimit = [400, 'upload-limit-reached', 'Your account has reached the uploads limit.'];

describe('the storage of a project', () => {
  it('rejects a file that does not fit', async () => {
    await start({ maxStorageBytes });
    const [first, second] = [await uploads.video(), await uploads.video()];
    expect((await uploads.send(first, noise(8_000_000))).status).toBe(201);
    const refused = await uploads.send(second, noise(5_000_000));
    expect(limitOf(refused)).toEqual(storageLimit);
    expect(refused.json.detail).toBe(
      '8000000 of 12000000 bytes are used, and the file does not fit. Delete videos permanently, or ask the operator for more.',
    );
    expect((await usage()).storage.maxBytes).toBe(maxStorageBytes);
    expect((await uploads.send(second, noise(3_000_000))).status).toBe(201);
    await server.call('DELETE', `/videos/${first}`);
    expect((await uploads.send(await uploads.video(), noise(5_000_000))).status).toBe(201);
    expect(await uploads.leftovers()).toEqual([]);
  });

  it('rejects an upload whose announced length does not fit', async () => {
    await start({ maxStorageBytes });
    const chunk = noise(chunkBytes);
    const [first, second] = [await uploads.video(), await uploads.video()];
    const announced = `bytes 0-${chunkBytes - 1}/${maxStorageBytes + 1}`;
    expect(limitOf(await uploads.send(first, chunk, announced))).toEqual(storageLimit);
    expect((await uploads.send(first, chunk, 'part 1/*')).status).toBe(201);
    expect((await uploads.send(second, chunk, 'part 1/*')).status).toBe(201);
    expect(limitOf(await uploads.send(first, chunk, 'part 2/2'))).toEqual(storageLimit);
    const { json: token } = await server.call('POST', '/upload-tokens', { body: {} });
    const delegated = await server.call('POST', `/upload?token=${token.token}`, { body: fileForm(chunk) });
    expect(limitOf(delegated)).toEqual(storageLimit);
  });

  it('accepts concurrent chunks of an upload that fits', async () => {
    await start({ maxStorageBytes });
    const chunk = noise(chunkBytes);
    const videoId = await uploads.video();
    const form = new Response(fileForm(chunk));
    const body = Buffer.from(await form.arrayBuffer());
    const first = request({
      port: server.listener.httpPort,
      path: `/videos/${videoId}/source`,
      method: 'POST',
      headers: {
        authorization: basic(sandboxKey),
        'content-type': form.headers.get('content-type')!,
        'content-length': body.length,
        'content-range': `bytes 0-${chunkBytes - 1}/${2 * chunkBytes}`,
      },
    });
    first.write(body.subarray(0, 1000));
    await waitUntil(() => server.api.quotas.isReceiving(videoId));
    const second = `bytes ${chunkBytes}-${2 * chunkBytes - 1}/${2 * chunkBytes}`;
    expect((await uploads.send(videoId, chunk, second)).status).toBe(201);
    first.end(body.subarray(1000));
    const [answer] = (await once(first, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(201);
    await waitUntil(async () => (await uploads.ingest(videoId))?.status === 'uploaded');
  });

  it('stops a file that turns out to be too large', async () => {
    await start({ maxStorageBytes });
    const form = new Response(fileForm(noise(maxStorageBytes + 1)));
    const path = `/videos/${await uploads.video()}/source`;
    const sent = request({
      port: server.listener.httpPort,
      path,
      method: 'POST',
      headers: {
        authorization: basic(sandboxKey),
        'content-type': form.headers.get('content-type')!,
        'transfer-encoding': 'chunked',
      },
    });
    sent.on('error', () => {});
    sent.end(Buffer.from(await form.arrayBuffer()));
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const body = (await json(answer)) as { type: string; title: string };
    expect(limitOf({ status: answer.statusCode ?? 0, json: body })).toEqual(storageLimit);
    expect(await uploads.leftovers()).toEqual([]);
  });

  it('rejects an import that does not fit', async () => {
    await start({ maxStorageBytes: 1_000_000 });
    const origin: Server = createServer((_, response) => void response.end(Buffer.alloc(1_000_001)));
    origin.listen(0, '127.0.0.1');
    await once(origin, 'listening');
    try {
      const source = `http://127.0.0.1:${(origin.address() as AddressInfo).port}/a.mp4`;
      const { json: video } = await server.call('POST', '/videos', { body: { title: 'Pier', source } });
      const failure = () => server.api.uploads.service.failureOf(video.videoId);
      await waitUntil(async () => (await failure()) !== undefined);
      expect(await failure()).toMatch(/^0 of 1000000 bytes are used, and the file does not fit\./);
      expect((await uploads.send(await uploads.video(), noise(1_000_000))).status).toBe(201);
      const refused = await server.call('POST', '/videos', { body: { title: 'Pier', source } });
      expect(limitOf(refused)).toEqual(storageLimit);
    } finally {
      origin.close();
    }
  });
});

describe('uploads in progress', () => {
  it('are refused beyond the limit when they come at once', async () => {
    await start({ maxUploads: 2 });
    const videoIds = await Promise.all(Array.from({ length: 4 }, () => uploads.video()));
    const chunk = noise(chunkBytes);
    const answers = await Promise.all(videoIds.map(videoId => uploads.send(videoId, chunk, 'part 1/2')));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(limitOf)).toEqual([uploadLimit, uploadLimit]);
    expect((await usage()).uploads).toEqual({ inProgress: 2, max: 2 });
  });

  it('are refused beyond the limit when later pieces begin them at once', async () => {
    await start({ maxUploads: 2 });
    const { json: token } = await server.call('POST', '/upload-tokens', { body: {} });
    const chunk = noise(chunkBytes);
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, index) =>
        server.call('POST', `/upload?token=${token.token}`, {
          headers: { 'content-range': 'part 2/3' },
          body: fileForm(chunk, { name: `${index}.mp4` }),
        }),
      ),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(limitOf)).toEqual([uploadLimit, uploadLimit]);
    expect((await usage()).uploads).toEqual({ inProgress: 2, max: 2 });
  });

  it('count an upload once whose chunks begin it at once', async () => {
    await start({ maxUploads: 1 });
    const videoId = await uploads.video();
    const ranges = ['part 1/3', 'part 2/3'];
    const answers = await Promise.all(ranges.map(range => uploads.send(videoId, noise(chunkBytes), range)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
  });

  it('are refused beyond the limit of the project', async () => {
    await start({ maxUploads: 2 });
    const chunk = noise(chunkBytes);
    const [first, second, third] = [await uploads.video(), await uploads.video(), await uploads.video()];
    for (const videoId of [first, second]) {
      expect((await uploads.send(videoId, chunk, 'part 1/2')).status).toBe(201);
    }
    expect((await usage()).uploads).toEqual({ inProgress: 2, max: 2 });
    const refused = await uploads.send(third, chunk, 'part 1/2');
    expect(limitOf(refused)).toEqual(uploadLimit);
    expect(refused.json.detail).toMatch(/^2 uploads are in progress, which is the maximum\./);
    const { json: token } = await server.call('POST', '/upload-tokens', { body: {} });
    const delegated = await server.call('POST', `/upload?token=${token.token}`, {
      body: fileForm(noise(10)),
    });
    expect(limitOf(delegated)).toEqual(uploadLimit);
    // A later piece that continues nothing begins an upload, too.
    const later = await server.call('POST', `/upload?token=${token.token}`, {
      headers: { 'content-range': 'part 2/3' },
      body: fileForm(chunk),
    });
    expect(limitOf(later)).toEqual(uploadLimit);
    expect((await usage()).uploads.inProgress).toBe(2);
    // The other projects have their own.
    const { sandboxKey: key } = await server.addAccount();
    const { json: video } = await server.call('POST', '/videos', { key, body: { title: 'Pier' } });
    const source = `/videos/${video.videoId}/source`;
    expect((await server.call('POST', source, { key, body: fileForm(noise(10)) })).status).toBe(201);

    expect((await uploads.send(first, noise(10), 'part 2/2')).status).toBe(201);
    await server.call('DELETE', `/videos/${second}`);
    await waitUntil(async () => (await usage()).uploads.inProgress < 2);
    expect((await uploads.send(third, chunk, 'part 1/2')).status).toBe(201);
  });
});
