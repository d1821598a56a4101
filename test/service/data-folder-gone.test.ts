import { copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises';
import Sqlite from 'better-sqlite3';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { MediaFiles } from '../../src/storage/media-files.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { usualKind } from '../support/test-database.ts';
import { waitUntil } from '../support/wait-until.ts';

it.each<[what: string, remove: (dataDir: string) => Promise<unknown>]>([
  ['deleted', dataDir => rm(dataDir, { recursive: true })],
  ['replaced by an empty one', dataDir => rename(dataDir, `${dataDir}-away`).then(() => mkdir(dataDir))],
  ['moved away', dataDir => rename(dataDir, `${dataDir}-away`)],
])('a server whose data folder is %s refuses writes and is not ready', async (_what, remove) => {
  const dataDir = `${await testTempDir()}/data`;
  await mkdir(dataDir);
  await using server = await startServer({}, { dataDir });
  const create = async () => (await server.api('POST', '/videos', { title: 'a' })).status;
  const ready = async () => {
    const response = await fetch(`${server.baseUrl}/health/ready`);
    return { status: response.status, text: await response.text() };
  };
  expect([await create(), (await ready()).status]).toEqual([201, 200]);

  await remove(dataDir);

  expect(await create()).toBe(503);
  expect(await ready()).toMatchObject({
    status: 503,
    text: expect.stringContaining('is not the file that the server opened'),
  });
  if (
    await rename(`${dataDir}-away`, dataDir).then(
      () => true,
      () => false,
    )
  ) {
    expect([await create(), (await ready()).status]).toEqual([201, 200]);
  }
});

const create = (server: TestServer, title: string) => server.api('POST', '/videos', { title });

async function ready(server: TestServer): Promise<{ status: number; text: string }> {
  const response = await fetch(`${server.baseUrl}/health/ready`);
  return { status: response.status, text: await response.text() };
}

/** @param whileArriving runs when the body has been sent up to `splitAt` */
async function upload(
  server: TestServer,
  videoId: string,
  whileArriving = async () => {},
  splitAt = -20,
): Promise<{ status: number; type?: string }> {
  const lines = [
    '--boundary',
    'Content-Disposition: form-data; name="file"; filename="a.mp4"',
    '',
    'not a video',
    '--boundary--',
    '',
  ];
  const text = new TextEncoder().encode(lines.join('\r\n'));
  async function* body() {
    yield text.subarray(0, splitAt);
    await whileArriving();
    yield text.subarray(splitAt);
  }
  const authorization = `Basic ${Buffer.from(`${server.productionKey}:`).toString('base64')}`;
  const url = `${server.baseUrl}/videos/${videoId}/source`;
  const headers = { authorization, 'content-type': 'multipart/form-data; boundary=boundary' };
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body: ReadableStream.from(body()),
    duplex: 'half',
  } as RequestInit);
  const { type } = (await response.json()) as { type?: string };
  return { status: response.status, ...(response.ok ? {} : { type: type?.split('/').at(-1) ?? '' }) };
}

describe('a server that loses a part of its data folder', () => {
  it.runIf(usualKind === 'SQLite').each(['-wal', '-shm'])(
    'refuses writes without millrace.db%s, and has lost nothing',
    async suffix => {
      const dataDir = `${await testTempDir()}/data`;
      await mkdir(dataDir);
      const server = await startServer({}, { dataDir });
      onTestFinished(() => server.stop());
      expect((await create(server, 'stored')).status).toBe(201);

      await rm(`${dataDir}/millrace.db${suffix}`);

      expect((await create(server, 'refused')).status).toBe(503);
      expect(await ready(server)).toMatchObject({
        status: 503,
        text: expect.stringMatching(/millrace\.db-\w+ is not the file .* Start the server again/),
      });
      // A crash would leave the file as it is now.
      await copyFile(`${dataDir}/millrace.db`, `${dataDir}/left.db`);
      const left = new Sqlite(`${dataDir}/left.db`, { readonly: true });
      onTestFinished(() => void left.close());
      expect(left.prepare('SELECT title FROM videos').pluck().all()).toEqual(['stored']);
    },
  );

  it('goes on without incoming and work, and refuses uploads without vod until it is back', async () => {
    const dataDir = `${await testTempDir()}/data`;
    await mkdir(dataDir);
    await using server = await startServer({}, { dataDir });
    const newVideo = async () => ((await (await create(server, 'a')).json()) as { videoId: string }).videoId;
    expect(await upload(server, await newVideo())).toEqual({ status: 201 });
    expect((await ready(server)).status).toBe(200);

    for (const name of ['incoming', 'work']) await rm(`${dataDir}/${name}`, { recursive: true, force: true });
    expect(await upload(server, await newVideo())).toEqual({ status: 201 });
    expect((await ready(server)).status).toBe(200);

    const refused = { status: 503, type: 'data-dir-unusable' };
    const removeIncoming = async () => {
      await waitUntil(async () => (await readdir(`${dataDir}/incoming`)).length > 0);
      await rm(`${dataDir}/incoming`, { recursive: true });
    };
    for (const splitAt of [5, -20])
      expect(await upload(server, await newVideo(), removeIncoming, splitAt)).toEqual(refused);
    expect(await upload(server, await newVideo())).toEqual({ status: 201 });

    await rename(`${dataDir}/vod`, `${dataDir}/vod-away`);
    expect(await upload(server, await newVideo())).toEqual(refused);
    await mkdir(`${dataDir}/vod`);
    expect(await upload(server, await newVideo())).toEqual(refused);
    expect(await ready(server)).toMatchObject({
      status: 503,
      text: expect.stringMatching(/data-folder: .*vod is not the folder that the server used/),
    });

    await rm(`${dataDir}/vod`, { recursive: true });
    await rename(`${dataDir}/vod-away`, `${dataDir}/vod`);
    expect(await upload(server, await newVideo())).toEqual({ status: 201 });
    expect((await ready(server)).status).toBe(200);
  });
});

it('a server without disk space is not ready, and one that refuses uploads says so', async () => {
  const freeBytes = vi.spyOn(MediaFiles.prototype, 'freeBytes');
  onTestFinished(() => freeBytes.mockRestore());
  await using server = await startServer();

  freeBytes.mockResolvedValue(40_000);
  expect(await ready(server)).toMatchObject({
    status: 503,
    text: expect.stringMatching(/disk: 0 MB of disk space is free, and 2\.1 GB must stay free/),
  });
  freeBytes.mockResolvedValue(1_000_000_000);
  const { status, text } = await ready(server);
  expect({ status, ...JSON.parse(text) }).toMatchObject({
    status: 'ready',
    warnings: [expect.stringContaining('Uploads are refused: 1 GB of disk space is free')],
  });
  freeBytes.mockResolvedValue(10_000_000_000);
  expect(JSON.parse((await ready(server)).text)).not.toHaveProperty('warnings');
});
