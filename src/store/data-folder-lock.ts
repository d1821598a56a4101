import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Sqlite from 'better-sqlite3';
import { AppError, messageOf, systemCodeOf } from '../shared/errors.ts';

/** A file in a data folder while it is restored, and after a restore that did not finish. */
export const restoreMarker = 'restore-unfinished';

/**
 * Keeps a second process off a data folder. The lock is the operating system's on an SQLite file, so it ends with the
 * process however that ends.
 */
export class DataFolderLock {
  readonly #holder: Sqlite.Database;

  private constructor(holder: Sqlite.Database) {
    this.#holder = holder;
  }

  /**
   * Makes the folder if it is missing and takes its lock without waiting.
   *
   * @param name file of the lock; another one for what may run beside a server, but not twice
   * @throws AppError `data-dir-unusable` when the folder cannot be written or another process has the lock
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

  /** Lets go. Safe when called twice. */
  release(): void {
    if (this.#holder.open) this.#holder.close();
  }
}

/** Returns whether a process has the lock of a data folder. */
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
 * Refuses a data folder that a restore did not fill.
 *
 * @throws AppError `data-dir-unusable`
 */
export function assertRestoreFinished(dataDir: string): void {
  if (!existsSync(join(dataDir, restoreMarker))) return;
  throw new AppError(
    'data-dir-unusable',
    `A restore into the data folder ${dataDir} did not finish, so the folder is incomplete. Run the restore again: it begins anew.`,
  );
}

/** Makes a folder and those above it, for the server's user only. Node's own `recursive` never ends where a folder takes no new ones, as in `/proc`. */
function makeFolder(path: string): void {
  if (isFolder(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function unusable(dataDir: string, lockName: string, error: unknown): AppError {
  const message = isBusy(error)
    ? `The data folder ${dataDir} is in use by another process.`
    : `The data folder ${dataDir} cannot be written: ${messageOf(error)}${ownerAdvice(dataDir, lockName)}`;
  return new AppError('data-dir-unusable', message, { cause: error });
}

/** A folder of another user is the usual cause, such as one of the host that is mounted into a container, or a lock that a killed process of another user left. */
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

function isBusy(error: unknown): boolean {
  return systemCodeOf(error)?.startsWith('SQLITE_BUSY') === true;
}
