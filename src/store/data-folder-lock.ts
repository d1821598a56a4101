import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Sqlite from 'better-sqlite3';
import { AppError, messageOf } from '../shared/errors.ts';
import { FilePlace } from '../shared/files/file-place.ts';
import { isBusy } from './database-lock.ts';

/** Exists during a restore, and after an incomplete one. */
export const restoreMarker = 'restore-unfinished';

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
   * @throws AppError `data-dir-unusable` when the folder is not writable or locked
   */
  static acquire(dataDir: string, name = 'millrace.lock'): DataFolderLock {
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
