import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import { joinBelow } from '../../shared/files/safe-path.ts';
import { newUuid } from '../../shared/ids.ts';
import { writeFully } from '../write-fully.ts';
import { type CopiedFolder, type CopyProgress, countByFolder } from './copy-progress.ts';
import { forEachFile } from './for-each-file.ts';
import type { ListedObject, S3Objects } from './s3-objects.ts';
import { isMediaKey } from './s3-storage.ts';

const copiedAtOnceBytes = 8 * 1024 ** 2;
const md5Etag = /^"([\da-f]{32})"$/;

interface CopyFromBucketOptions {
  readonly dataDir: string;
  readonly objects: S3Objects;
  readonly prefix: string;
  readonly progress: CopyProgress;
  readonly signal: AbortSignal;
}

/**
 * Copies the stored files of a bucket into a data folder. Each gets its name once its bytes were read back from the disk and
 * compared, so that another run continues with the others. A file that is already there stays: it is newer.
 */
export async function copyFromBucket(options: CopyFromBucketOptions): Promise<CopiedFolder[]> {
  const { dataDir, objects, prefix, progress, signal } = options;
  const found: (ListedObject & { readonly name: string; readonly path: string })[] = [];
  for await (const object of objects.list(prefix)) {
    if (!isMediaKey(object.key, prefix)) continue;
    const name = object.key.slice(prefix.length);
    found.push({ ...object, name, path: joinBelow(dataDir, name) });
  }
  const missing: typeof found = [];
  for (const file of found) {
    if ((await stat(file.path).catch(() => undefined)) === undefined) missing.push(file);
  }
  const bytes = missing.reduce((sum, file) => sum + file.bytes, 0);
  await checkRoom(dataDir, bytes);
  // The server empties it.
  const scratch = join(dataDir, 'work');
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  progress.begin('Copying', bytes);
  await forEachFile(missing, signal, async (file, stop) => {
    const beside = join(scratch, newUuid());
    try {
      await copyOne(options, file, beside, stop);
      await mkdir(dirname(file.path), { recursive: true, mode: 0o700 });
      await rename(beside, file.path);
    } finally {
      await rm(beside, { force: true });
    }
  });
  progress.end();
  await rm(join(dataDir, 'cache'), { recursive: true, force: true });
  return countByFolder(found);
}

async function copyOne(
  { objects, progress }: CopyFromBucketOptions,
  { key, etag, bytes }: ListedObject,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const sent = createHash('sha256');
  const md5 = createHash('md5');
  await using file = await open(path, 'wx', 0o600);
  for (let start = 0; start < bytes; start += copiedAtOnceBytes) {
    const length = Math.min(copiedAtOnceBytes, bytes - start);
    const part = await objects.read(key, { etag, bytes }, { start, length }, signal);
    sent.update(part);
    md5.update(part);
    await writeFully(file, [part], start);
    progress.add(length);
  }
  await file.sync();
  // Compares the MD5 that is the ETag of objects that were not sent in parts, unless the server encrypts them.
  const expectedMd5 = md5Etag.exec(etag)?.[1];
  const isSent = expectedMd5 === undefined || md5.digest('hex') === expectedMd5;
  if (isSent && (await fileDigest(path)) === sent.digest('hex')) return;
  throw new AppError(
    'storage-unusable',
    `The copy of ${key} has other bytes than the storage. Run the command again, and check the disk and the storage if that happens once more.`,
  );
}

async function checkRoom(dataDir: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir);
  if (bavail * bsize > bytes) return;
  const megabytes = (amount: number) => `${Math.ceil(amount / 1e6)} MB`;
  throw new AppError(
    'disk-full',
    `The stored files have ${megabytes(bytes)}, and ${dataDir} has ${megabytes(bavail * bsize)} free.`,
  );
}

async function fileDigest(path: string): Promise<string> {
  const hash: Hash = createHash('sha256');
  for await (const bytes of createReadStream(path, { highWaterMark: 1024 ** 2 }))
    hash.update(bytes as Buffer);
  return hash.digest('hex');
}
