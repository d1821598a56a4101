import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { AppError, messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import type { Secret } from '../shared/secret.ts';
import { assertRestoreFinished, DataFolderLock } from './data-folder-lock.ts';
import type { Database } from './database.ts';
import { isBusy, lockedError } from './database-lock.ts';
import { checkIsCurrent, migrate } from './migrations.ts';
import { cacheKibibytes, SqliteDatabase } from './sqlite-database.ts';

/** Time that the start waits for another process. */
const busyTimeoutMs = 5_000;

interface DatabaseOptions {
  readonly dataDir: string;
  /** URL of PostgreSQL. Without it, the database is a file in the data folder. */
  readonly url?: Secret | undefined;
  /** True when other servers may use the same PostgreSQL database. Default false. */
  readonly isShared?: boolean;
  /** Connections to PostgreSQL at once. */
  readonly maxConnections?: number | undefined;
  readonly log?: Logger;
}

/** Locks the data folder and migrates. @throws AppError `data-dir-unusable` or `database-unusable` */
export async function openDatabase({
  dataDir,
  url,
  isShared,
  maxConnections,
  log,
}: DatabaseOptions): Promise<Database> {
  const lock = DataFolderLock.acquire(dataDir);
  try {
    assertRestoreFinished(dataDir);
    return url === undefined
      ? openSqlite(join(dataDir, 'millrace.db'), lock)
      : await openPostgres({ url, log, lock, isShared, maxConnections, isBesideServer: false });
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Opens beside a server, without lock or migration. @throws AppError `database-unusable` */
export async function openDatabaseWithoutLock({ dataDir, url, log }: DatabaseOptions): Promise<Database> {
  assertRestoreFinished(dataDir);
  if (url !== undefined) return openPostgres({ url, log, lock: undefined, isBesideServer: true });
  const path = join(dataDir, 'millrace.db');
  if (!existsSync(path)) {
    throw new AppError(
      'database-unusable',
      `There is no database in ${dataDir}. The server creates it at its first start.`,
    );
  }
  return wrapSqlite(path, undefined, { fileMustExist: true }, sqlite => {
    sqlite.pragma('foreign_keys = ON');
    checkIsCurrent(sqlite);
  });
}

function openSqlite(path: string, lock: DataFolderLock): Database {
  return wrapSqlite(path, lock, {}, sqlite => {
    sqlite.pragma('journal_mode = WAL');
    sqlite.pragma('synchronous = NORMAL');
    sqlite.pragma('foreign_keys = ON');
    sqlite.pragma(`cache_size = -${cacheKibibytes}`);
    migrate(sqlite);
  });
}

function wrapSqlite(
  path: string,
  lock: DataFolderLock | undefined,
  options: Sqlite.Options,
  prepare: (sqlite: Sqlite.Database) => void,
): Database {
  let sqlite: Sqlite.Database | undefined;
  try {
    // Created here because it contains stream keys: only this user may read it, and SQLite creates its other
    // files with the same mode.
    if (options.fileMustExist !== true) closeSync(openSync(path, 'a', 0o600));
    sqlite = new Sqlite(path, { timeout: busyTimeoutMs, ...options });
    prepare(sqlite);
    return new SqliteDatabase(sqlite, lock);
  } catch (error) {
    sqlite?.close();
    const cause = error instanceof AppError ? error.cause : error;
    if (isBusy(cause)) throw lockedError(path, cause);
    if (error instanceof AppError) throw error;
    throw new AppError('database-unusable', `The database ${path} cannot be opened: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Loads the client only when it is needed: the default needs none. */
async function openPostgres(options: {
  readonly url: Secret;
  readonly log: Logger | undefined;
  readonly lock: DataFolderLock | undefined;
  readonly isShared?: boolean | undefined;
  readonly maxConnections?: number | undefined;
  readonly isBesideServer: boolean;
}): Promise<Database> {
  const { connectPostgres } = await import('./postgres/postgres-database.ts');
  return connectPostgres({
    url: options.url.reveal(),
    lock: options.lock,
    isBesideServer: options.isBesideServer,
    isShared: options.isShared ?? false,
    maxConnections: options.maxConnections,
    onPooled: () =>
      options.log?.info('database-pooled', {
        advice:
          'A connection pooler gives each transaction another connection. One of them is kept for the lock of this server. Use pool_mode = session, or the address of PostgreSQL itself, for limits on the time of queries.',
      }),
    onIdleError: error => options.log?.warn('database-connection-lost', { error: messageOf(error) }),
  });
}
