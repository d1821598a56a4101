import { mkdir, rename, rm } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { startServer } from '../support/start-server.ts';
import { testTempDir } from '../support/temp-dir.ts';

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
