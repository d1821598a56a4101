import { randomBytes } from 'node:crypto';
import { readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { S3Storage } from '../../src/storage/s3/s3-storage.ts';
import { type S3Server, s3Missing, startS3 } from '../support/s3.ts';
import { S3Proxy } from '../support/s3-proxy.ts';
import { openTestS3Storage } from '../support/s3-storage.ts';
import { collect, readAll, readRange, sha256, writeNew } from '../support/storage-files.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

const mebibyte = 1024 ** 2;
const name = ['vod', 'v1', 'hls-7', 'video-0.mp4'];

if (s3Missing !== undefined) console.log(`Skipped: ${s3Missing}`);

describe.skipIf(s3Missing !== undefined)('the cache of an S3 storage', () => {
  let server: S3Server;
  let proxy: S3Proxy;
  let bucket: string;
  let root: string;
  let path: string;
  let count = 0;
  const bytes = randomBytes(12 * mebibyte + 5);

  beforeAll(async () => {
    server = await startS3();
  });
  afterAll(() => server?.stop());

  beforeEach(async () => {
    count += 1;
    bucket = `cache-${count}`;
    await server.makeBucket(bucket);
    proxy = await S3Proxy.start(server.endpoint);
    onTestFinished(() => proxy.stop());
    root = await testTempDir();
    path = join(root, ...name);
    const dataDir = await testTempDir();
    const writer = await openTestS3Storage({ url: server.url(bucket), dataDir });
    await writer.publish(await writeNew(join(dataDir, 'work', 'a'), bytes), join(dataDir, ...name));
    await writer.stop();
  });

  async function opened(options: Partial<Parameters<typeof openTestS3Storage>[0]> = {}): Promise<S3Storage> {
    const url = server.url(bucket, { endpoint: proxy.endpoint });
    const storage = await openTestS3Storage({ url, dataDir: root, ...options });
    onTestFinished(() => storage.stop());
    return storage;
  }

  const gets = () => proxy.count(({ range }) => range !== undefined);

  /** Lists complete entries. */
  async function cachedFiles(): Promise<string[]> {
    const files = await readdir(join(root, 'cache'), { recursive: true, withFileTypes: true });
    return files
      .filter(file => file.isFile() && !file.parentPath.includes('scratch'))
      .map(file => join(file.parentPath, file.name));
  }

  async function cachedBytes(): Promise<number> {
    const sizes = await Promise.all((await cachedFiles()).map(async file => (await stat(file)).size));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  it('asks for each block once, however many read it', async () => {
    const storage = await opened();
    const sums = await Promise.all(
      Array.from({ length: 30 }, async () => sha256(await readAll(storage, path))),
    );

    expect(new Set(sums)).toEqual(new Set([sha256(bytes)]));
    expect(gets()).toBe(13);
  });

  it('reads ahead of one who reads on', async () => {
    const storage = await opened();
    const file = await storage.open(path);
    await readRange(file, 0, 1_000);
    await waitUntil(() => gets() === 2);
    expect(proxy.requests.map(({ range }) => range)).toContain('bytes=1048576-2097151');
    await file.close();
  });

  it('is still there after a restart', async () => {
    const first = await opened();
    await readAll(first, path);
    await first.stop();
    expect(await cachedFiles()).toHaveLength(13);
    const before = proxy.requests.length;
    const storage = await opened();
    const atStart = proxy.requests.length;

    expect(sha256(await readAll(storage, path))).toBe(sha256(bytes));
    expect(atStart).toBeGreaterThan(before);
    expect(proxy.requests.length).toBe(atStart);
    expect(storage.cache.count).toBe(13);
  });

  it('holds a whole file once a program needed it', async () => {
    const storage = await opened();
    await storage.withLocal(path, async () => {});
    const before = gets();

    expect(sha256(await readAll(storage, path))).toBe(sha256(bytes));
    await storage.withLocal(path, async () => {});
    expect(gets()).toBe(before);
    expect(await cachedFiles()).toHaveLength(1);
  });

  it('stays within its size, and forgets what was used longest ago', async () => {
    const storage = await opened({ cacheBytes: 5 * mebibyte });
    for (let turn = 0; turn < 3; turn += 1) {
      expect(sha256(await readAll(storage, path))).toBe(sha256(bytes));
    }
    expect(storage.cache.bytes).toBeLessThanOrEqual(5 * mebibyte);
    await waitUntil(async () => (await cachedBytes()) <= 5 * mebibyte);
    expect(await storage.withLocal(path, async local => (await stat(local)).size)).toBe(bytes.length);
    await waitUntil(async () => (await cachedBytes()) <= 5 * mebibyte);
  });

  it('can be turned off', async () => {
    const storage = await opened({ cacheBytes: 0 });

    expect(sha256(await readAll(storage, path))).toBe(sha256(bytes));
    expect(await cachedFiles()).toEqual([]);
  });

  it.each([0, mebibyte / 2])(
    'leaves nothing on the disk that is larger than its new size of %i bytes',
    async cacheBytes => {
      const first = await opened();
      await readAll(first, path);
      await waitUntil(async () => (await cachedFiles()).length === 13);
      await first.stop();
      await opened({ cacheBytes });

      await waitUntil(async () => (await cachedBytes()) <= cacheBytes);
    },
  );

  it('is not needed: a disk without room only slows down', async () => {
    const storage = await opened({ minFreeBytes: () => Number.MAX_SAFE_INTEGER });

    expect(sha256(await readAll(storage, path))).toBe(sha256(bytes));
    expect(await cachedFiles()).toEqual([]);
  });

  it('downloads nothing for programs that would fill the disk', async () => {
    const storage = await opened({ minFreeBytes: () => Number.MAX_SAFE_INTEGER / 2 });

    await expect(storage.withLocal(path, async () => {})).rejects.toMatchObject({ code: 'disk-full' });
    expect(gets()).toBe(0);
  });

  it('is not needed: a folder that cannot be written only slows down', async () => {
    const storage = await opened();
    await rm(join(root, 'cache'), { recursive: true });
    await writeFile(join(root, 'cache'), 'in the way');

    expect(sha256(await readAll(storage, path))).toBe(sha256(bytes));
  });

  it.each([
    ['meanwhile', false],
    ['before a restart', true],
  ])('never serves an entry that lost bytes %s', async (_when, restarts) => {
    let storage = await opened();
    await readAll(storage, path);
    await waitUntil(async () => (await cachedFiles()).length === 13);
    for (const file of await cachedFiles()) await truncate(file, 1_000);
    if (restarts) {
      await storage.stop();
      storage = await opened();
    }

    expect(sha256(await readAll(storage, path))).toBe(sha256(bytes));
  });

  it('forgets entries whose file is gone', async () => {
    const storage = await opened();
    await readAll(storage, path);
    await waitUntil(async () => (await cachedFiles()).length === 13);
    for (const file of await cachedFiles()) await rm(file);
    await rm(join(root, 'cache', 'scratch'), { recursive: true });

    expect(sha256(await readAll(storage, path))).toBe(sha256(bytes));
  });

  it('keeps nothing of removed files, of other buckets, or of work that a crash ended', async () => {
    const storage = await opened();
    await readAll(storage, path);
    await waitUntil(async () => (await cachedFiles()).length === 13);
    await storage.remove(join(root, 'vod', 'v1'));
    await waitUntil(async () => (await cachedFiles()).length === 0);
    expect(await collect(storage.list(join(root, 'vod')))).toEqual([]);
    await storage.stop();

    await writeNew(join(root, 'cache', 'scratch', 'left'), randomBytes(10));
    await writeNew(join(root, 'cache', 'other-bucket', 'vod', 'left'), randomBytes(10));
    await opened();
    expect(await readdir(join(root, 'cache'))).not.toContain('other-bucket');
    expect(await cachedFiles()).toEqual([]);
    expect(await readdir(join(root, 'cache', 'scratch'))).toEqual([]);
  });

  it('lists and removes thousands of files', async () => {
    for (let index = 0; index < 1_100; index += 1) {
      await writeNew(join(server.folder, bucket, 'vod', 'v2', `part-${index}`), Buffer.from('x'));
    }
    const storage = await opened();
    const folder = join(root, 'vod', 'v2');
    expect(await collect(storage.list(folder))).toHaveLength(1_100);
    const posts = () => proxy.count(({ method }) => method === 'POST');
    const before = posts();
    await storage.remove(folder);
    expect(await collect(storage.list(folder))).toEqual([]);
    expect(posts() - before).toBe(2);
  });
});
