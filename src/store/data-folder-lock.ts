import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Sqlite from 'better-sqlite3';
import { AppError, messageOf } from '../shared/errors.ts';
import { FilePlace } from '../shared/files/file-place.ts';
import { isBusy } from './database-lock.ts';

/** Exists during a restore, and after an incomplete one. */
export const restoreMarker = 'restore-unfinished';

const ownFiles = ['millrace.lock', 'millrace.db', 'programs.json', restoreMarker];
/** May be copied or mounted into a new data folder. */
const mediaFolders: ReadonlySet<string> = new Set(['vod', 'uploads', 'live', 'players', 'watermarks']);
/** May be mounted into a new data folder, but the server empties them. */
const emptiedFolders: ReadonlySet<string> = new Set(['work', 'incoming', 'cache']);

/** The operating system holds the lock on an SQLite file, so it ends with the process in any case. */
export class DataFolderLock {
  readonly #holder: Sqlite.Database;
  readonly #place: FilePlace;

  private constructor(holder: Sqlite.Database) {
    this.#holder = holder;
    this.#place = new FilePlace(holder.name);
  }

  /**
   * Creates a missing folder. Does not wait for the lock.
   * @param name another one for a process that may run beside a server, but only once
   * @throws AppError `data-dir-unusable` when the folder is not writable or locked, or holds other data
   */
  static acquire(dataDir: string, name = 'millrace.lock'): DataFolderLock {
    assertOwnFolder(dataDir);
    let holder: Sqlite.Database | undefined;
    try {
      makeFolder(resolve(dataDir));
      holder = new Sqlite(join(dataDir, name), { timeout: 0 });
      holder.exec('BEGIN EXCLUSIVE');
      return new DataFolderLock(holder);
    } catch (error) {
      holder?.close();
      throw unusable(dataDir, name, error);
    }
  }

  /** Tells that the data folder was deleted, replaced or unmounted, so that nothing that is written lasts. */
  findFault(): string | undefined {
    return this.#place.isUnchanged() ? undefined : goneMessage(this.#place.path);
  }

  /** May be called twice. */
  release(): void {
    if (this.#holder.open) this.#holder.close();
  }
}

/** @param path of a file that the server keeps open */
export function goneMessage(path: string): string {
  return `${path} is not the file that the server opened: it was deleted or replaced, or its disk was unmounted. Restore the data folder, and start the server again.`;
}

export function isDataFolderLocked(dataDir: string): boolean {
  let reader: Sqlite.Database | undefined;
  try {
    reader = new Sqlite(join(dataDir, 'millrace.lock'), { timeout: 0, readonly: true, fileMustExist: true });
    reader.prepare('SELECT 1 FROM sqlite_schema').get();
    return false;
  } catch (error) {
    return isBusy(error);
  } finally {
    reader?.close();
  }
}

/**
 * Refuses a folder of somebody else, such as a home folder: the server restricts its permissions and empties folders in it.
 * @throws AppError `data-dir-unusable`
 */
export function assertOwnFolder(dataDir: string): void {
  const foreign = namesIn(dataDir).find(name => isForeign(dataDir, name));
  // A start at the same time creates the lock before any folder.
  if (foreign === undefined || ownFiles.some(name => existsSync(join(dataDir, name)))) return;
  throw new AppError(
    'data-dir-unusable',
    `The folder ${dataDir} holds other data, such as "${foreign}", and none of Millrace. Use an empty folder for Millrace alone, such as --data-dir=${join(dataDir, 'millrace')}.`,
  );
}

/** Lists nothing where the folder cannot be listed: locking it tells the reason. */
function namesIn(dataDir: string): string[] {
  try {
    return readdirSync(dataDir);
  } catch {
    return [];
  }
}

function isForeign(dataDir: string, name: string): boolean {
  if (name.startsWith('.') || name === 'lost+found' || mediaFolders.has(name)) return false;
  const path = join(dataDir, name);
  return isFolder(path) && !(emptiedFolders.has(name) && namesIn(path).length === 0);
}

/** Refuses a data folder with an incomplete restore. @throws AppError `data-dir-unusable` */
export function assertRestoreFinished(dataDir: string): void {
  if (!existsSync(join(dataDir, restoreMarker))) return;
  throw new AppError(
    'data-dir-unusable',
    `A restore into the data folder ${dataDir} did not finish, so the folder is incomplete. Run the restore again; it starts over.`,
  );
}

/** Node's own `recursive` option hangs in folders that accept no new ones, such as `/proc`. */
function makeFolder(path: string): void {
  if (isFolder(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Continues when another process has created it meanwhile.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function unusable(dataDir: string, lockName: string, error: unknown): AppError {
  const message = isBusy(error)
    ? `The data folder ${dataDir} is in use by another process.`
    : `The data folder ${dataDir} is not writable: ${messageOf(error)}${ownerAdvice(dataDir, lockName)}`;
  return new AppError('data-dir-unusable', message, { cause: error });
}

/** Covers a host folder mounted into a container, and the lock of a killed process of another user. */
function ownerAdvice(dataDir: string, lockName: string): string {
  const own = process.getuid?.();
  for (const [path, name] of [
    [dataDir, 'It'],
    [join(dataDir, lockName), lockName],
  ] as const) {
    const owner = ownerOf(path);
    if (own === undefined || owner === undefined || owner === own) continue;
    return `. ${name} belongs to user ${owner}, and this process runs as user ${own}. Run "chown -R ${own} ${dataDir}", or for a container the same with the folder of the host that is mounted there.`;
  }
  return '';
}

function ownerOf(path: string): number | undefined {
  try {
    return statSync(path).uid;
  } catch {
    return undefined;
  }
}
