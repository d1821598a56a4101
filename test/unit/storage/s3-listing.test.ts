import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { silentLogger } from '../../../src/shared/logger.ts';
import type { ListedObject, S3Objects } from '../../../src/storage/s3/s3-objects.ts';
import { isMediaKey, S3Storage } from '../../../src/storage/s3/s3-storage.ts';
import { StorageCache } from '../../../src/storage/s3/storage-cache.ts';
import { collect } from '../../support/storage-files.ts';
import { testTempDir } from '../../support/temp-dir.ts';

const strangeNames = ['', '/source', '../v2/source', '../../millrace.db', '../../../other', './source', 'a/'];

async function storageWith(root: string, keys: readonly string[]): Promise<S3Storage> {
  const cache = await StorageCache.open({
    ...{ folder: join(root, 'cache'), bucketId: 'test', log: silentLogger },
    ...{ maxBytes: 1024 ** 2, minFreeBytes: 0 },
  });
  const list = async function* (): AsyncIterable<ListedObject> {
    for (const key of keys) yield { key, etag: '"1"', bytes: 1, modifiedAtMs: 0 };
  };
  const objects = { list } as unknown as S3Objects;
  return new S3Storage({
    ...{ root, objects, cache, prefix: 'media/' },
    ...{ canRedirect: false, observer: undefined },
  });
}

it('lists no keys that are markers of folders or lead to other places on the disk', async () => {
  const root = await testTempDir();
  const folder = join(root, 'vod', 'v1');
  await mkdir(folder, { recursive: true });
  await writeFile(join(root, 'millrace.db'), 'rows');
  const keys = ['source', ...strangeNames].map(name => `media/vod/v1/${name}`);
  const storage = await storageWith(root, keys);

  expect((await collect(storage.list(folder))).map(({ path }) => path)).toEqual([join(folder, 'source')]);
});

it('copies no such keys', () => {
  expect(isMediaKey('media/vod/v1/source', 'media/')).toBe(true);
  for (const name of strangeNames) expect(isMediaKey(`media/vod/v1/${name}`, 'media/')).toBe(false);
});
