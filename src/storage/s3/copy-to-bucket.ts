import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { appendFile, mkdir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import { entriesIn, foldersIn } from '../folder-names.ts';
import { removedPrefix } from '../removed-prefix.ts';
import { type CopiedFolder, type CopyProgress, countByFolder } from './copy-progress.ts';
import { forEachFile } from './for-each-file.ts';
import { uploadFile } from './s3-multipart.ts';
import type { ListedObject, S3Objects } from './s3-objects.ts';

/** Holds the files that were copied. */
export const movedFolder = 'moved-to-s3';
/** A line for each file that was copied and read back. */
const journalName = 'storage-copy.jsonl';
const comparedAtOnceBytes = 8 * 1024 ** 2;

interface LocalFile {
  /** Name in the data folder, with slashes: its key without the prefix. */
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly modifiedAtMs: number;
}

interface JournalLine extends Omit<LocalFile, 'path'> {
  readonly etag: string;
}

interface CopyToBucketOptions {
  readonly dataDir: string;
  readonly objects: S3Objects;
  readonly prefix: string;
  readonly progress: CopyProgress;
  readonly signal: AbortSignal;
}

/**
 * Copies the stored files of a data folder into a bucket, reads them back, and compares their SHA-256. Then it moves the
 * local ones aside, because a file in its place is taken for one that is still written. Continues after an interruption.
 */
export async function copyToBucket(options: CopyToBucketOptions): Promise<CopiedFolder[]> {
  const { dataDir, objects, prefix, progress, signal } = options;
  const journalPath = join(dataDir, journalName);
  const [files, journal] = await Promise.all([storedFiles(dataDir), readJournal(journalPath)]);
  const present = new Map<string, ListedObject>();
  if (journal.size > 0) for await (const object of objects.list(prefix)) present.set(object.key, object);
  const missing = files.filter(file => {
    const line = journal.get(file.name);
    const isSame = line?.bytes === file.bytes && line.modifiedAtMs === file.modifiedAtMs;
    return !isSame || present.get(prefix + file.name)?.etag !== line.etag;
  });
  // Counts bytes twice: each file is sent and read back.
  progress.begin('Copying', 2 * missing.reduce((sum, { bytes }) => sum + bytes, 0));
  await forEachFile(missing, signal, async (file, stop) => {
    const line = await copyOne(options, file, stop);
    await appendFile(journalPath, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  });
  progress.end();
  await moveAside(dataDir, files);
  await rm(journalPath, { force: true });
  return countByFolder(files);
}

async function copyOne(
  { objects, prefix, progress }: CopyToBucketOptions,
  { path, ...file }: LocalFile,
  signal: AbortSignal,
): Promise<JournalLine> {
  const key = prefix + file.name;
  const sha256 = await sha256Of(path);
  const version = await uploadFile(objects, path, key, signal);
  progress.add(file.bytes);
  const hash = createHash('sha256');
  for (let start = 0; start < version.bytes; start += comparedAtOnceBytes) {
    const length = Math.min(comparedAtOnceBytes, version.bytes - start);
    hash.update(await objects.read(key, version, { start, length }, signal));
    progress.add(length);
  }
  if (version.bytes !== file.bytes || hash.digest('hex') !== sha256) {
    throw new AppError(
      'storage-unusable',
      `The storage has other bytes than ${path}. Run the command again, and check the disk and the storage if that happens once more.`,
    );
  }
  return { ...file, etag: version.etag };
}

/** Lists the files, except for what stays in the data folder: the window of live streams and work. */
async function storedFiles(dataDir: string): Promise<LocalFile[]> {
  const found: LocalFile[] = [];
  const add = async (name: string) => {
    const path = join(dataDir, name);
    const { size, mtimeMs } = await stat(path);
    found.push({ name, path, bytes: size, modifiedAtMs: mtimeMs });
  };
  const addAll = async (folder: string, isDeep: boolean) => {
    for (const entry of await entriesIn(join(dataDir, folder))) {
      const name = `${folder}/${entry.name}`;
      if (entry.name.startsWith(removedPrefix)) continue;
      if (entry.isFile()) await add(name);
      else if (entry.isDirectory() && isDeep) await addAll(name, true);
    }
  };
  for (const root of ['vod', 'uploads', 'watermarks', 'players']) await addAll(root, true);
  for (const liveStreamId of await foldersIn(join(dataDir, 'live')))
    await addAll(`live/${liveStreamId}`, false);
  return found;
}

async function moveAside(dataDir: string, files: readonly LocalFile[]): Promise<void> {
  for (const { name, path } of files) {
    const target = join(dataDir, movedFolder, name);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await rename(path, target);
    await removeEmpty(dirname(path), dataDir);
  }
}

async function removeEmpty(folder: string, dataDir: string): Promise<void> {
  for (let path = folder; path !== dataDir; path = dirname(path)) {
    try {
      await rmdir(path);
    } catch {
      return;
    }
  }
}

async function readJournal(path: string): Promise<Map<string, JournalLine>> {
  const lines = new Map<string, JournalLine>();
  const text = await readFile(path, 'utf8').catch(() => '');
  for (const line of text.split('\n')) {
    try {
      const parsed = JSON.parse(line) as JournalLine;
      lines.set(parsed.name, parsed);
    } catch {
      // The last line of a run that was killed.
    }
  }
  return lines;
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of createReadStream(path, { highWaterMark: 1024 ** 2 }))
    hash.update(bytes as Buffer);
  return hash.digest('hex');
}
