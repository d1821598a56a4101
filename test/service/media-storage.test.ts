import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { DataFolderStorage } from '../../src/storage/data-folder-storage.ts';
import type { MediaStorage } from '../../src/storage/media-storage.ts';
import { type S3Server, s3Missing, startS3 } from '../support/s3.ts';
import { openTestS3Storage } from '../support/s3-storage.ts';
import { collect, readAll, readRange, sha256, writeNew as write } from '../support/storage-files.ts';
import { testTempDir } from '../support/temp-dir.ts';

interface Place {
  readonly root: string;
  readonly storage: MediaStorage;
  /** Storage of another node, with the same stored files. */
  readonly other: MediaStorage;
  readonly otherRoot: string;
}

let server: S3Server | undefined;
let bucketCount = 0;

beforeAll(async () => {
  if (s3Missing === undefined) server = await startS3();
  else console.log(`Skipped with S3: ${s3Missing}`);
});
afterAll(() => server?.stop());

async function dataFolder(): Promise<Place> {
  const root = await testTempDir();
  const storage = new DataFolderStorage(root);
  return { root, storage, other: storage, otherRoot: root };
}

async function s3(): Promise<Place> {
  bucketCount += 1;
  const bucket = `contract-${bucketCount}`;
  await server!.makeBucket(bucket);
  const url = server!.url(bucket, { prefix: bucketCount % 2 === 0 ? 'some/prefix' : '' });
  const [root, otherRoot] = [await testTempDir(), await testTempDir()];
  const open = async (dataDir: string) => {
    const storage = await openTestS3Storage({ url, dataDir });
    onTestFinished(() => storage.stop());
    return storage;
  };
  return { root, otherRoot, storage: await open(root), other: await open(otherRoot) };
}

const mebibyte = 1024 ** 2;
const uuid = '7f1c9a52-5e0e-4a0e-9c57-0a53a1a4b7c1';

describe.each([
  { name: 'the data folder', make: dataFolder },
  { name: 'S3', make: s3 },
])('with $name', ({ name, make }) => {
  const test = it.skipIf(name === 'S3' && s3Missing !== undefined);

  test('moves a file into the storage, where every node reads it', async () => {
    const { root, storage, other, otherRoot } = await make();
    const bytes = randomBytes(3 * mebibyte + 17);
    const from = await write(join(root, 'work', 'a'), bytes);

    await storage.publish(from, join(root, 'vod', 'v1', 'source'));

    expect(existsSync(from)).toBe(false);
    const found = await other.find(join(otherRoot, 'vod', 'v1', 'source'));
    expect(found?.bytes).toBe(bytes.length);
    expect(found?.etag).toMatch(/^".+"$/);
    expect(found?.modifiedAtMs).toBeGreaterThan(Date.now() - 600_000);
    expect(sha256(await readAll(other, join(otherRoot, 'vod', 'v1', 'source')))).toBe(sha256(bytes));
    expect(sha256(await readAll(storage, join(root, 'vod', 'v1', 'source')))).toBe(sha256(bytes));
  });

  test('stores bytes, and replaces them', async () => {
    const { root, storage, other, otherRoot } = await make();
    const path = join(root, 'vod', 'v1', 'recording-1.mp4.pieces', '0');
    const otherPath = join(otherRoot, 'vod', 'v1', 'recording-1.mp4.pieces', '0');
    for (const bytes of [randomBytes(mebibyte), randomBytes(7), Buffer.alloc(0)]) {
      await storage.write(path, bytes);
      expect((await other.find(otherPath))?.bytes).toBe(bytes.length);
      expect(sha256(await readAll(other, otherPath))).toBe(sha256(bytes));
    }
    expect(await collect(other.listFolders(join(otherRoot, 'vod', 'v1')))).toEqual([
      'recording-1.mp4.pieces',
    ]);
  });

  test.each([0, 1, mebibyte, mebibyte + 1, 40 * mebibyte + 5])(
    'keeps the bytes of a file of %i bytes',
    async size => {
      const { root, storage, other, otherRoot } = await make();
      const bytes = randomBytes(size);
      await storage.publish(await write(join(root, 'work', 'a'), bytes), join(root, 'vod', 'v1', 'source'));

      expect((await other.find(join(otherRoot, 'vod', 'v1', 'source')))?.bytes).toBe(size);
      expect(sha256(await readAll(other, join(otherRoot, 'vod', 'v1', 'source')))).toBe(sha256(bytes));
      await other.withLocal(join(otherRoot, 'vod', 'v1', 'source'), async path => {
        expect(sha256(await readFile(path))).toBe(sha256(bytes));
      });
    },
  );

  test('reads any range, and nothing behind the end', async () => {
    const { root, storage, other, otherRoot } = await make();
    const bytes = randomBytes(3 * mebibyte);
    await storage.publish(
      await write(join(root, 'work', 'a'), bytes),
      join(root, 'vod', 'v1', `thumbnail-${uuid}.jpg`),
    );
    const file = await other.open(join(otherRoot, 'vod', 'v1', `thumbnail-${uuid}.jpg`));

    for (const [start, length] of [
      [0, 10],
      [mebibyte - 5, 10],
      [2 * mebibyte + 7, mebibyte],
      [5, 2 * mebibyte + 100],
      [bytes.length - 1, 100],
      [bytes.length, 10],
      [bytes.length + mebibyte, 10],
    ] as const) {
      expect(sha256(await readRange(file, start, length))).toBe(
        sha256(bytes.subarray(start, start + length)),
      );
    }
    await file.close();
  });

  test('shows the old file or the whole new one while it is replaced', async () => {
    const { root, storage, other, otherRoot } = await make();
    const contents = Array.from({ length: 6 }, (_, index) => Buffer.alloc(mebibyte + 11, `${index}`));
    const publish = async (content: Buffer, index: number) =>
      storage.publish(
        await write(join(root, 'work', `${index}`), content),
        join(root, 'vod', 'v1', 'source'),
      );
    await publish(contents[0]!, 0);
    let isDone = false;
    const seen = new Set<string>();
    const reading = (async () => {
      while (!isDone) {
        try {
          seen.add(sha256(await readAll(other, join(otherRoot, 'vod', 'v1', 'source'))));
        } catch (error) {
          // Replaced between two reads.
          expect(error).toMatchObject({ code: 'storage-unavailable' });
        }
      }
    })();
    for (const [index, content] of contents.entries()) await publish(content, index);
    isDone = true;
    await reading;

    const possible = contents.map(sha256);
    for (const sum of seen) expect(possible).toContain(sum);
    expect(sha256(await readAll(other, join(otherRoot, 'vod', 'v1', 'source')))).toBe(possible.at(-1));
  });

  test('sees at once that a file was replaced by another node', async () => {
    const { root, storage, other, otherRoot } = await make();
    for (const content of ['one', 'two', 'three']) {
      await storage.publish(
        await write(join(root, 'work', 'a'), Buffer.from(content)),
        join(root, 'vod', 'v1', 'source'),
      );
      const path = join(otherRoot, 'vod', 'v1', 'source');
      expect((await readAll(other, path)).toString()).toBe(content);
      expect(await other.withLocal(path, local => readFile(local, 'utf8'))).toBe(content);
      expect((await other.find(path))?.bytes).toBe(content.length);
    }
  });

  test('keeps files that were written in their place, and readers go on', async () => {
    const { root, storage, other, otherRoot } = await make();
    const bytes = randomBytes(2 * mebibyte);
    const path = await write(join(root, 'vod', 'v1', 'hls-1', 'video-0.mp4'), bytes);
    const index = await write(join(root, 'vod', 'v1', 'hls-1', 'video-0.mp4.index'), bytes.subarray(0, 100));
    expect((await storage.find(path))?.bytes).toBe(bytes.length);
    const file = await storage.open(path);
    expect(sha256(await readRange(file, 0, 100))).toBe(sha256(bytes.subarray(0, 100)));

    await storage.keep([path, index]);
    await storage.keep([path, index]);

    expect(sha256(await readRange(file, mebibyte, mebibyte))).toBe(sha256(bytes.subarray(mebibyte)));
    await file.close();
    expect(sha256(await readAll(storage, path))).toBe(sha256(bytes));
    expect(sha256(await readAll(other, join(otherRoot, 'vod', 'v1', 'hls-1', 'video-0.mp4')))).toBe(
      sha256(bytes),
    );
  });

  test('says that a file is missing', async () => {
    const { root, storage } = await make();
    const path = join(root, 'vod', 'v1', 'source');

    expect(await storage.find(path)).toBeUndefined();
    await expect(storage.open(path)).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(storage.withLocal(path, local => readFile(local))).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(storage.copy(path, `${path}-2`)).rejects.toMatchObject({ code: 'ENOENT' });
    await storage.remove(path);
    await storage.remove(dirname(path));
    expect(await collect(storage.list(dirname(path)))).toEqual([]);
    expect(await collect(storage.listFolders(dirname(path)))).toEqual([]);
  });

  test('copies files, which then live on their own', async () => {
    const { root, storage, other, otherRoot } = await make();
    const bytes = randomBytes(mebibyte + 3);
    const from = join(root, 'vod', 'v1', 'source');
    await storage.publish(await write(join(root, 'work', 'a'), bytes), from);
    await storage.copy(from, join(root, 'vod', 'v2', 'source'));
    await storage.remove(join(root, 'vod', 'v1'));

    expect(await storage.find(from)).toBeUndefined();
    expect(sha256(await readAll(storage, join(root, 'vod', 'v2', 'source')))).toBe(sha256(bytes));
    expect(sha256(await readAll(other, join(otherRoot, 'vod', 'v2', 'source')))).toBe(sha256(bytes));
  });

  test('lists and removes files and folders', async () => {
    const { root, storage, other, otherRoot } = await make();
    const names = ['v1/source', 'v1/hls-1/video-0.mp4', 'v1/hls-1/audio.mp4', 'v10/source', 'v2/source'];
    for (const one of names) {
      await storage.publish(await write(join(root, 'work', 'a'), Buffer.from(one)), join(root, 'vod', one));
    }
    await write(join(otherRoot, 'vod', 'v3', 'source'), Buffer.from('growing'));
    const inFolder = async (folder: string) =>
      (await collect(other.list(join(otherRoot, folder))))
        .map(({ path, bytes }) => `${path.slice(otherRoot.length + 5)} ${bytes}`)
        .sort();

    expect(await inFolder('vod/v1')).toEqual([
      'v1/hls-1/audio.mp4 18',
      'v1/hls-1/video-0.mp4 20',
      'v1/source 9',
    ]);
    expect(await inFolder('vod')).toHaveLength(6);
    expect((await collect(other.listFolders(join(otherRoot, 'vod')))).sort()).toEqual([
      'v1',
      'v10',
      'v2',
      'v3',
    ]);

    await other.remove(join(otherRoot, 'vod', 'v1', 'hls-1', 'audio.mp4'));
    expect(await inFolder('vod/v1')).toEqual(['v1/hls-1/video-0.mp4 20', 'v1/source 9']);
    await other.remove(join(otherRoot, 'vod', 'v1'));
    expect(await inFolder('vod/v1')).toEqual([]);
    expect(await inFolder('vod/v10')).toEqual(['v10/source 10']);
    await expect(storage.open(join(root, 'vod', 'v1', 'source'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('gives programs a local file until all are done with it', async () => {
    const { root, storage, other, otherRoot } = await make();
    const bytes = randomBytes(5 * mebibyte);
    await storage.publish(await write(join(root, 'work', 'a'), bytes), join(root, 'vod', 'v1', 'source'));
    const path = join(otherRoot, 'vod', 'v1', 'source');

    const paths = await Promise.all(
      Array.from({ length: 5 }, () =>
        other.withLocal(path, async local => {
          expect(sha256(await readFile(local))).toBe(sha256(bytes));
          return local;
        }),
      ),
    );
    expect(new Set(paths).size).toBe(1);
    if (other.kind === 's3') expect(existsSync(paths[0]!)).toBe(false);
  });

  test('ends with the reason of a signal', async () => {
    const { root, storage } = await make();
    const path = await write(join(root, 'vod', 'v1', 'source'), randomBytes(100));
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);

    if (storage.kind === 's3') {
      await expect(storage.publish(path, `${path}-2`, signal)).rejects.toBe(reason);
      await expect(storage.keep([path], signal)).rejects.toBe(reason);
    }
    expect(await storage.findFault()).toBeUndefined();
  });

  test('reads a file of many megabytes with many readers at once', async () => {
    const { root, storage, other, otherRoot } = await make();
    const bytes = randomBytes(20 * mebibyte);
    const name = `hls-7/video-0.mp4`;
    await storage.publish(await write(join(root, 'work', 'a'), bytes), join(root, 'vod', 'v1', name));

    const file = await other.open(join(otherRoot, 'vod', 'v1', name));
    await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const start = (index * 499_979) % bytes.length;
        const wanted = bytes.subarray(start, start + 700_000);
        expect(sha256(await readRange(file, start, 700_000))).toBe(sha256(wanted));
      }),
    );
    await file.close();
  });
});
