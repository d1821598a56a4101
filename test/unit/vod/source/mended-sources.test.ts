import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MediaFiles } from '../../../../src/storage/media-files.ts';
import { MendedSources } from '../../../../src/vod/source/mended-sources.ts';
import { testTempDir } from '../../../support/temp-dir.ts';

async function setUp() {
  const dataDir = await testTempDir();
  const sources = new MendedSources(new MediaFiles(dataDir));
  let made = 0;
  return {
    use: (key: string, work: (path: string) => Promise<unknown> = path => readFile(path, 'utf8')) =>
      sources.use(
        key,
        async path => {
          made += 1;
          await writeFile(path, key);
        },
        work,
      ),
    sources,
    made: () => made,
    folders: async () => (await readdir(join(dataDir, 'work'))).length,
  };
}

test('a copy is made once for the jobs of a video, and removed when another one is made', async () => {
  const { use, sources, made, folders } = await setUp();
  expect(await Promise.all([use('one'), use('one')])).toEqual(['one', 'one']);
  expect(await use('one')).toBe('one');
  expect([made(), await folders()]).toEqual([1, 1]);
  expect(await use('other')).toBe('other');
  expect([made(), await folders()]).toEqual([2, 1]);
  await sources.stop();
  expect(await folders()).toBe(0);
});

test('a copy stays while it is used', async () => {
  const { use, sources, folders } = await setUp();
  await use('one', async path => {
    await use('other');
    await sources.stop();
    expect(await readFile(path, 'utf8')).toBe('one');
  });
  await sources.stop();
  expect(await folders()).toBe(0);
});

test('a copy that cannot be made is made again by the next job, and leaves nothing', async () => {
  const { sources, folders } = await setUp();
  const make = async () => {
    throw new Error('no room');
  };
  const both = [1, 2].map(() => sources.use('one', make, async () => 1));
  expect(await Promise.allSettled(both)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  expect(
    await sources.use(
      'one',
      path => writeFile(path, 'x'),
      async () => 2,
    ),
  ).toBe(2);
  await sources.stop();
  expect(await folders()).toBe(0);
});
