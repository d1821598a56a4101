import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { type Compilable, Kysely, SqliteDialect } from 'kysely';
import { LRUCache } from 'lru-cache';
import { AppError, messageOf } from '../shared/errors.ts';
import type { Component } from '../shared/lifecycle.ts';
import { Checkpointer } from './checkpointer.ts';
import { assertRestoreFinished, DataFolderLock } from './data-folder-lock.ts';
import { checkIsCurrent, migrate } from './migrations.ts';
import { type Bound, PreparedQuery } from './prepared-query.ts';
import type { Tables } from './tables.ts';
import { WriteBatch } from './write-batch.ts';

const busyTimeoutMs = 5_000;
/** Searches among a million videos read more pages than SQLite's default of 2 MiB holds. */
const cacheKibibytes = 16 * 1_024;

/** Builds queries for {@link Database}: a transaction across an `await` would include others' writes. */
export type Queries = Pick<
  Kysely<Tables>,
  'selectFrom' | 'insertInto' | 'updateTable' | 'deleteFrom' | 'with' | 'withRecursive' | 'selectNoFrom'
>;

/** One synchronous connection: everything between two `await`s is atomic. */
export class Database implements Component {
  readonly name = 'database';
  readonly sqlite: Sqlite.Database;
  readonly queries: Queries;
  readonly #lock: DataFolderLock | undefined;
  readonly #checkpointer: Checkpointer;
  readonly #batch: WriteBatch;
  readonly #statements = new LRUCache<string, Sqlite.Statement>({ max: 256 });

  constructor(sqlite: Sqlite.Database, lock: DataFolderLock | undefined) {
    this.sqlite = sqlite;
    this.queries = new Kysely<Tables>({ dialect: new SqliteDialect({ database: sqlite }) });
    this.#lock = lock;
    this.#checkpointer = new Checkpointer(sqlite);
    this.#batch = new WriteBatch(sqlite, () => this.#checkpointer.pending);
  }

  all<Row>(query: Compilable<Row>): Row[] {
    const { sql, parameters } = query.compile();
    return this.#prepare(sql).all(...parameters) as Row[];
  }

  first<Row>(query: Compilable<Row>): Row | undefined {
    const { sql, parameters } = query.compile();
    return this.#prepare(sql).get(...parameters) as Row | undefined;
  }

  run(query: Compilable): number {
    const { sql, parameters } = query.compile();
    this.#checkpointer.wake();
    return this.#prepare(sql).run(...parameters).changes;
  }

  /** Prepares a query for a hot path. Call this once, in a store's constructor. */
  prepare<Values, Row>(build: (parameters: Bound<Values>) => Compilable<Row>): PreparedQuery<Values, Row> {
    const prepare = (text: string) => this.sqlite.prepare(text);
    return new PreparedQuery({ prepare, onWrite: () => this.#checkpointer.wake() }, build);
  }

  /** `work` must be synchronous. Nested transactions belong to the outer one. */
  transaction<Result>(work: () => Result): Result {
    this.#checkpointer.wake();
    return this.sqlite.inTransaction ? work() : this.sqlite.transaction(work).immediate();
  }

  /** Batches writes of one event loop iteration. `work` runs later and must be synchronous. */
  inBatch<Result>(work: () => Result): Promise<Result> {
    this.#checkpointer.wake();
    return this.#batch.add(work);
  }

  findFault(): string | undefined {
    if (!this.sqlite.open) return 'it is closed';
    try {
      this.sqlite.prepare('SELECT 1 FROM projects LIMIT 1').get();
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  /** Starts the checkpoints; the database is already open. */
  async start(): Promise<void> {
    this.#checkpointer.start();
  }

  async stop(): Promise<void> {
    await this.#checkpointer.stop();
    this.#batch.finish();
    this.#statements.clear();
    if (this.sqlite.open) this.sqlite.close();
    this.#lock?.release();
  }

  #prepare(sql: string): Sqlite.Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.sqlite.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/** Locks and migrates. @throws AppError `data-dir-unusable` or `database-unusable` */
export function openDatabase(options: { dataDir: string }): Database {
  const lock = DataFolderLock.acquire(options.dataDir);
  const path = join(options.dataDir, 'millrace.db');
  let sqlite: Sqlite.Database | undefined;
  try {
    assertRestoreFinished(options.dataDir);
    // Created here because it contains stream keys: only this user may read it, and SQLite creates its other
    // files with the same mode.
    closeSync(openSync(path, 'a', 0o600));
    sqlite = new Sqlite(path, { timeout: busyTimeoutMs });
    sqlite.pragma('journal_mode = WAL');
    sqlite.pragma('synchronous = NORMAL');
    sqlite.pragma('foreign_keys = ON');
    sqlite.pragma(`cache_size = -${cacheKibibytes}`);
    migrate(sqlite);
    return new Database(sqlite, lock);
  } catch (error) {
    sqlite?.close();
    lock.release();
    if (error instanceof AppError) throw error;
    throw new AppError('database-unusable', `The database ${path} cannot be opened: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Opens beside a server, without lock or migration. @throws AppError `database-unusable` */
export function openDatabaseWithoutLock({ dataDir }: { dataDir: string }): Database {
  const path = join(dataDir, 'millrace.db');
  assertRestoreFinished(dataDir);
  if (!existsSync(path)) {
    throw new AppError(
      'database-unusable',
      `There is no database in ${dataDir}. The server creates it at its first start.`,
    );
  }
  let sqlite: Sqlite.Database | undefined;
  try {
    sqlite = new Sqlite(path, { timeout: busyTimeoutMs, fileMustExist: true });
    sqlite.pragma('foreign_keys = ON');
    checkIsCurrent(sqlite);
    return new Database(sqlite, undefined);
  } catch (error) {
    sqlite?.close();
    if (error instanceof AppError) throw error;
    throw new AppError('database-unusable', `The database ${path} cannot be opened: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
