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

async function storageWith(root: string, objects: Partial<S3Objects>): Promise<S3Storage> {
  const cache = await StorageCache.open({
    folder: join(root, 'cache'),
    bucketId: 'test',
    log: silentLogger,
    maxBytes: 1024 ** 2,
    minFreeBytes: () => 0,
  });
  return new S3Storage({
    root,
    objects: objects as S3Objects,
    cache,
    prefix: 'media/',
    canRedirect: false,
    observer: undefined,
  });
}

it('lists no keys that are markers of folders or lead to other places on the disk', async () => {
  const root = await testTempDir();
  const folder = join(root, 'vod', 'v1');
  await mkdir(folder, { recursive: true });
  await writeFile(join(root, 'millrace.db'), 'rows');
  const keys = ['source', ...strangeNames].map(name => `media/vod/v1/${name}`);
  const list = async function* (): AsyncIterable<ListedObject> {
    for (const key of keys) yield { key, etag: '"1"', bytes: 1, modifiedAtMs: 0 };
  };
  const storage = await storageWith(root, { list });

  expect((await collect(storage.list(folder))).map(({ path }) => path)).toEqual([join(folder, 'source')]);
});

it('copies no such keys', () => {
  expect(isMediaKey('media/vod/v1/source', 'media/')).toBe(true);
  for (const name of strangeNames) expect(isMediaKey(`media/vod/v1/${name}`, 'media/')).toBe(false);
});

it('ends all uploads before it says that files could not be kept', async () => {
  const root = await testTempDir();
  const paths = Array.from({ length: 10 }, (_, index) => join(root, 'vod', 'v1', 'hls-1', `${index}`));
  await mkdir(join(root, 'vod', 'v1', 'hls-1'), { recursive: true });
  for (const path of paths) await writeFile(path, 'media');
  let begun = 0;
  let ended = 0;
  const storage = await storageWith(root, {
    put: async (key, _readBody, signal) => {
      if (key.endsWith('/0')) throw new Error('the bucket is full');
      begun += 1;
      return new Promise<never>((_, reject) => {
        const end = () => {
          ended += 1;
          reject(signal?.reason);
        };
        const stop = () => setImmediate(end);
        if (signal?.aborted) stop();
        else signal?.addEventListener('abort', stop);
      });
    },
  });

  await expect(storage.keep(paths)).rejects.toThrow('the bucket is full');
  expect(begun).toBeLessThanOrEqual(3);
  expect(ended).toBe(begun);
});
