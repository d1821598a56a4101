import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { fixture } from '../support/fixtures.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({
    allowPrivateTargets: 'true',
    'recording.enabled': 'false',
    'videos.restore': 'false',
    'encode.codecs': 'av1',
  });
});
afterAll(() => server.stop());

const create = async (values: Record<string, unknown> = {}): Promise<string> => {
  const answer = await server.api('POST', '/videos', { title: 'A film', ...values });
  return ((await answer.json()) as { videoId: string }).videoId;
};
const send = (videoId: string, bytes: Uint8Array<ArrayBuffer>, range?: string): Promise<Response> => {
  const body = new FormData();
  body.set('file', new File([bytes], 'film.mp4'));
  const headers = {
    authorization: `Basic ${Buffer.from(`${server.productionKey}:`).toString('base64')}`,
    ...(range === undefined ? {} : { 'content-range': range }),
  };
  return fetch(`${server.baseUrl}/videos/${videoId}/source`, { method: 'POST', headers, body });
};
const pathsOf = (id: string) => ['vod', 'uploads', 'live'].map(root => join(server.dataDir, root, id));
const isThere = (id: string) => pathsOf(id).some(path => existsSync(path));
const asideIn = () =>
  ['vod', 'uploads']
    .flatMap(root => (existsSync(join(server.dataDir, root)) ? readdirSync(join(server.dataDir, root)) : []))
    .filter(name => name.startsWith('.'));

/** Two clients delete the same at once: one is first, and after both answers nothing is left. */
async function deleteTwice(path: string, id: string): Promise<void> {
  const answers = await Promise.all([server.api('DELETE', path), server.api('DELETE', path)]);
  const statuses = answers.map(({ status }) => status).sort();
  expect([204, 404]).toContain(statuses[1]);
  expect(statuses[0]).toBe(204);
  // The media that viewers could rewind to is removed right after.
  await waitUntil(() => !isThere(id) && asideIn().length === 0);
  expect((await server.api('GET', path)).status).toBe(404);
}

describe('a video is deleted by two at once', () => {
  it('while pieces of it arrive', async () => {
    const id = await create();
    expect((await send(id, new Uint8Array(5_242_880), 'part 1/3')).status).toBe(201);
    expect(isThere(id)).toBe(true);
    const sending = send(id, new Uint8Array(5_242_880), 'part 2/3');
    await deleteTwice(`/videos/${id}`, id);
    expect([201, 404]).toContain((await sending).status);
    expect(isThere(id)).toBe(false);
  });

  it('while its pieces are joined', async () => {
    const id = await create();
    const bytes = new Uint8Array(40 * 1_024 * 1_024);
    for (const part of ['part 1/2', 'part 2/2']) expect((await send(id, bytes, part)).status).toBe(201);
    await deleteTwice(`/videos/${id}`, id);
  });

  it('while it is fetched', async () => {
    const open = new Set<ServerResponse>();
    const elsewhere = createServer((_request, response) => {
      open.add(response);
      response.on('close', () => open.delete(response));
      response.writeHead(200, { 'content-length': '9000000' });
      response.write(Buffer.alloc(2_000_000));
    });
    await new Promise<void>(resolve => elsewhere.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = elsewhere.address() as AddressInfo;
      const id = await create({ source: `http://127.0.0.1:${port}/film.mp4` });
      await waitUntil(() => existsSync(join(server.dataDir, 'vod', id, 'source.partial')));
      await deleteTwice(`/videos/${id}`, id);
      await waitUntil(() => open.size === 0);
    } finally {
      elsewhere.closeAllConnections();
      elsewhere.close();
    }
  });

  it('while it is encoded', async () => {
    const id = await create();
    expect((await send(id, new Uint8Array(await readFile(await fixture('h264-720p'))))).status).toBe(201);
    await waitUntil(() => server.app.ffmpegProcesses() > 0);
    await deleteTwice(`/videos/${id}`, id);
    expect(server.app.ffmpegProcesses()).toBe(0);
  });

  it('while it is encoded to another codec', async () => {
    const id = await create();
    expect((await send(id, new Uint8Array(await readFile(await fixture('h264-long-gop'))))).status).toBe(201);
    const isEncoding = () =>
      readdirSync(join(server.dataDir, 'vod', id)).some(name => name.startsWith('av1-'));
    await waitUntil(() => isEncoding() && server.app.ffmpegProcesses() > 0);
    await deleteTwice(`/videos/${id}`, id);
    expect(server.app.ffmpegProcesses()).toBe(0);
  });
});

describe('a live stream is deleted by two at once', () => {
  it('while it is on air', async () => {
    const { liveStreamId: id, streamKey } = await server.createStream();
    await using publisher = publishTestPicture({ url: server.rtmpUrl(streamKey) });
    await waitUntil(async () => (await fetch(`${server.baseUrl}/${id}.m3u8`)).ok);
    await deleteTwice(`/live-streams/${id}`, id);
    await publisher.exited;
    await waitUntil(() => server.app.ffmpegProcesses() === 0);
    expect((await fetch(`${server.baseUrl}/${id}.m3u8`)).status).toBe(404);
  });

  it('while its publisher may still come back', async () => {
    const { liveStreamId: id, streamKey } = await server.createStream();
    await using publisher = publishTestPicture({ url: server.rtmpUrl(streamKey) });
    await waitUntil(async () => (await fetch(`${server.baseUrl}/${id}.m3u8`)).ok);
    await publisher.kill();
    await publisher.exited;
    await deleteTwice(`/live-streams/${id}`, id);
    await waitUntil(() => server.app.ffmpegProcesses() === 0);
    expect(isThere(id)).toBe(false);
  });
});
