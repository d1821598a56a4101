import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { type FileHandle, mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { AppError } from '../../shared/errors.ts';
import { isDiskFull } from '../../shared/files/disk-error.ts';
import { joinBelow } from '../../shared/files/safe-path.ts';
import { operatorCommand } from '../../shared/installation.ts';
import { syncFolderOf } from '../../storage/media-files.ts';
import { writeFully } from '../../storage/write-fully.ts';
import { DataFolderLock, restoreMarker } from '../../store/data-folder-lock.ts';
import { checkDatabaseFile } from '../../store/database-copy.ts';
import {
  type BackupContents,
  BackupError,
  descriptionName,
  formatVersion,
  sumsName,
} from './archive-format.ts';
import { type ArchivedFile, readArchive } from './archive-reader.ts';
import { databaseName, isExcludedFromBackup } from './data-files.ts';
import type { Progress } from './progress.ts';

interface RestoreOptions {
  readonly from: AsyncIterable<Buffer>;
  /** Created if missing; must be empty. */
  readonly dataDir: string;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

interface RestoreReport {
  readonly files: number;
  readonly bytes: number;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly contents: BackupContents;
}

interface Description {
  readonly createdAt: string;
  readonly contents: BackupContents;
  readonly bytes: number;
}

const ofNobody = /^(?:lost\+found|millrace\.lock.*)$/;
const maxDescriptionBytes = 64 * 1024;
const maxNameBytes = 1024;
const maxSyncs = 16;
const notOurs = `This is not a backup of Millrace. Use a file written by "${operatorCommand('backup')}".`;

/**
 * Restores into an empty folder and verifies. A marker keeps servers out until all files are on the disk.
 * @throws BackupError with a sentence for the operator; the folder is empty again
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const { dataDir } = options;
  const lock = takeFolder(dataDir);
  const marker = join(dataDir, restoreMarker);
  let isMarked = false;
  try {
    if (existsSync(marker)) await clear(dataDir);
    const [found] = readdirSync(dataDir).filter(name => !ofNobody.test(name));
    if (found !== undefined) {
      throw new BackupError(
        `The folder ${dataDir} is not empty: it contains "${found}". Move it away, or set another folder with --dataDir=PATH.`,
      );
    }
    await (await open(marker, 'wx', 0o600)).close();
    isMarked = true;
    await syncFolderOf(marker);
    const writer = new FileWriter(dataDir);
    const report = await readBackup(options, marker, file => writer.write(file));
    await writer.finish();
    if (report.contents !== 'media') checkDatabaseFile(join(dataDir, databaseName), 'restored');
    await rm(marker);
    await syncFolderOf(marker);
    return report;
  } catch (error) {
    if (isMarked) await clear(dataDir);
    throw isDiskFull(error)
      ? new BackupError(
          `The disk of ${dataDir} is full: nothing was restored. Free some space, or restore to another disk.`,
        )
      : error;
  } finally {
    lock.release();
  }
}

export async function checkBackup(options: Omit<RestoreOptions, 'dataDir'>): Promise<RestoreReport> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-check-'));
  try {
    return await readBackup(options, join(folder, 'sums'), async ({ content }) => {
      const hash = createHash('sha256');
      for await (const chunk of content) hash.update(chunk);
      return hash.digest('hex');
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** `sumsPath`: for the computed checksums. `take` reads a file and returns its SHA-256. */
async function readBackup(
  { from, progress, signal }: Omit<RestoreOptions, 'dataDir'>,
  sumsPath: string,
  take: (file: ArchivedFile) => Promise<string>,
): Promise<RestoreReport> {
  const sums = await open(sumsPath, 'w', 0o600);
  let description: Description | undefined;
  let files = 0;
  let bytes = 0;
  let hasDatabase = false;
  try {
    for await (const file of readArchive(from)) {
      signal.throwIfAborted();
      checkName(file.name);
      if (description === undefined) {
        const text = await textOf(file);
        description = descriptionOf(text);
        await sums.write(`${createHash('sha256').update(text).digest('hex')}  ${file.name}\n`);
        progress.begin('Reading', description.bytes);
        continue;
      }
      if (file.name === sumsName) {
        if (!hasDatabase && description.contents !== 'media')
          throw new BackupError(`The backup is damaged: ${databaseName} is missing. Use another backup.`);
        await compareSums(file, sumsPath);
        progress.end();
        return { files, bytes, createdAt: description.createdAt, contents: description.contents };
      }
      const content = observed(file.content, progress, signal);
      await sums.write(`${await take({ ...file, content })}  ${file.name}\n`);
      hasDatabase ||= file.name === databaseName;
      files += 1;
      bytes += file.size;
    }
  } finally {
    await sums.close();
  }
  throw new BackupError(
    description === undefined
      ? notOurs
      : `The backup is truncated: ${sumsName} is missing at its end. Use another backup.`,
  );
}

async function* observed(
  content: AsyncIterable<Buffer>,
  progress: Progress,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  for await (const chunk of content) {
    signal.throwIfAborted();
    progress.add(chunk.length);
    yield chunk;
  }
}

/** Accepts no names outside of the folder, and none of the server's working files. */
function checkName(name: string): void {
  const isPlain =
    Buffer.byteLength(name) <= maxNameBytes &&
    !/\p{Cc}|\\/u.test(name) &&
    name.split('/').every(part => part !== '' && part !== '.' && part !== '..');
  if (isPlain && (name === databaseName || !isExcludedFromBackup(name))) return;
  throw new BackupError(
    `The backup contains an unexpected file: ${JSON.stringify(name.slice(0, 200))}. Nothing was restored.`,
  );
}

async function textOf({ name, size, content }: ArchivedFile): Promise<string> {
  if (name !== descriptionName || size > maxDescriptionBytes) throw new BackupError(notOurs);
  const pieces: Buffer[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

function descriptionOf(text: string): Description {
  let description: Partial<Record<string, unknown>>;
  try {
    description = JSON.parse(text) as Partial<Record<string, unknown>>;
  } catch {
    throw new BackupError(notOurs);
  }
  if (description.format !== formatVersion) {
    throw new BackupError(
      `The backup has format ${String(description.format)}, but this version reads format ${formatVersion}. Restore it with the version that created it, ${String(description.version)}.`,
    );
  }
  return {
    createdAt: String(description.createdAt),
    contents:
      description.isDatabaseOnly === true ? 'database' : description.isMediaOnly === true ? 'media' : 'all',
    bytes: Number(description.bytes) || 0,
  };
}

async function compareSums(file: ArchivedFile, sumsPath: string): Promise<void> {
  const found = createInterface({ input: createReadStream(sumsPath) })[Symbol.asyncIterator]();
  for await (const expected of createInterface({ input: Readable.from(file.content) })) {
    const { value, done } = await found.next();
    if (done === true || value !== expected) {
      const name = (done === true ? expected : value).slice(66);
      throw new BackupError(
        `The backup is damaged: the checksum of ${name} does not match. Use another backup.`,
      );
    }
  }
  const { value, done } = await found.next();
  if (done !== true) {
    throw new BackupError(
      `The backup is damaged: the checksum of ${value.slice(66)} is missing. Use another backup.`,
    );
  }
}

class FileWriter {
  readonly #root: string;
  readonly #syncs = new Set<Promise<void>>();
  #folder: string | undefined;
  #failure: unknown;

  constructor(root: string) {
    this.#root = root;
  }

  async write({ name, mtime, content }: ArchivedFile): Promise<string> {
    const path = joinBelow(this.#root, name);
    await this.#enter(dirname(path));
    // Never overwrites a file, and so never follows a symbolic link.
    const handle = await openNew(path, name);
    const hash = createHash('sha256');
    try {
      let position = 0;
      for await (const chunk of content) {
        hash.update(chunk);
        await writeFully(handle, [chunk], position);
        position += chunk.length;
      }
      await handle.utimes(mtime, mtime);
    } catch (error) {
      await handle.close();
      throw error;
    }
    await this.#sync(handle);
    return hash.digest('hex');
  }

  async finish(): Promise<void> {
    await Promise.all(this.#syncs);
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#folder !== undefined) await syncFolderOf(join(this.#folder, 'any'));
  }

  async #enter(folder: string): Promise<void> {
    if (folder === this.#folder) return;
    const last = this.#folder;
    this.#folder = folder;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (let parent = folder; parent !== this.#root; parent = dirname(parent)) await syncFolderOf(parent);
    if (last !== undefined) await syncFolderOf(join(last, 'any'));
  }

  async #sync(handle: FileHandle): Promise<void> {
    const sync = handle
      .sync()
      .finally(() => handle.close())
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => this.#syncs.delete(sync));
    this.#syncs.add(sync);
    if (this.#syncs.size >= maxSyncs) await Promise.race(this.#syncs);
    if (this.#failure !== undefined) throw this.#failure;
  }
}

async function openNew(path: string, name: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    if (existsSync(path)) throw new BackupError(`The backup contains ${name} twice. Nothing was restored.`);
    throw error;
  }
}

function takeFolder(dataDir: string): DataFolderLock {
  try {
    return DataFolderLock.acquire(dataDir);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const advice =
      error.cause === undefined
        ? ''
        : ' Stop the server that uses it, or restore elsewhere with --dataDir=PATH.';
    throw new BackupError(`${error.message}${advice}`);
  }
}

/** The marker last, because it announces that there may be files. */
async function clear(dataDir: string): Promise<void> {
  for (const name of readdirSync(dataDir)) {
    if (!ofNobody.test(name) && name !== restoreMarker) {
      await rm(join(dataDir, name), { recursive: true, force: true, maxRetries: 3 });
    }
  }
  await rm(join(dataDir, restoreMarker), { force: true });
}
