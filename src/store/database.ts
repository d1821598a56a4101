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
/** Searches among a million videos walk through more pages than SQLite's own 2 MiB hold. */
const cacheKibibytes = 16 * 1_024;

/** What builds queries; they run through {@link Database}, because a transaction across an `await` would take in others' writes. */
export type Queries = Pick<
  Kysely<Tables>,
  'selectFrom' | 'insertInto' | 'updateTable' | 'deleteFrom' | 'with' | 'withRecursive' | 'selectNoFrom'
>;

/**
 * The one SQLite file of a data folder, on one connection, with everything synchronous: a statement takes microseconds, and
 * what happens between two `await`s is one unit. Opened by {@link openDatabase} or {@link openDatabaseWithoutLock}, closed by `stop`.
 */
export class Database implements Component {
  readonly name = 'database';
  /** For statements on hot paths, prepared once by the store that owns them. */
  readonly sqlite: Sqlite.Database;
  /** Builds typed queries for {@link all}, {@link first} and {@link run}. */
  readonly queries: Queries;
  readonly #lock: DataFolderLock | undefined;
  readonly #checkpointer: Checkpointer;
  readonly #batch: WriteBatch;
  readonly #statements = new LRUCache<string, Sqlite.Statement>({ max: 256 });

  /** Use {@link openDatabase} or {@link openDatabaseWithoutLock}. */
  constructor(sqlite: Sqlite.Database, lock: DataFolderLock | undefined) {
    this.sqlite = sqlite;
    this.queries = new Kysely<Tables>({ dialect: new SqliteDialect({ database: sqlite }) });
    this.#lock = lock;
    this.#checkpointer = new Checkpointer(sqlite);
    this.#batch = new WriteBatch(sqlite, () => this.#checkpointer.ending);
  }

  /** Every row of a query. */
  all<Row>(query: Compilable<Row>): Row[] {
    const { sql, parameters } = query.compile();
    return this.#prepare(sql).all(...parameters) as Row[];
  }

  /** The first row of a query, if it has one. */
  first<Row>(query: Compilable<Row>): Row | undefined {
    const { sql, parameters } = query.compile();
    return this.#prepare(sql).get(...parameters) as Row | undefined;
  }

  /** Runs a statement without rows; the number of rows that it changed. */
  run(query: Compilable): number {
    const { sql, parameters } = query.compile();
    this.#checkpointer.wake();
    return this.#prepare(sql).run(...parameters).changes;
  }

  /**
   * Prepares a query for a hot path, which a store does once, in its constructor.
   *
   * @example database.prepare(({ id }: Bound<{ id: string }>) => queries.selectFrom('videos').selectAll().where('id', '=', id))
   */
  prepare<Values, Row>(build: (parameters: Bound<Values>) => Compilable<Row>): PreparedQuery<Values, Row> {
    const prepare = (text: string) => this.sqlite.prepare(text);
    return new PreparedQuery({ prepare, onWrite: () => this.#checkpointer.wake() }, build);
  }

  /** All of `work` or nothing of it. `work` must not return a promise. One inside another is a part of the outer one. */
  transaction<Result>(work: () => Result): Result {
    this.#checkpointer.wake();
    return this.sqlite.inTransaction ? work() : this.sqlite.transaction(work).immediate();
  }

  /**
   * All of `work` or nothing of it, as {@link transaction}, but committed with what others ask for in the same turn: for writes of
   * which there are many at a time. `work` is called later, sees what came before it, and must not return a promise.
   */
  inBatch<Result>(work: () => Result): Promise<Result> {
    this.#checkpointer.wake();
    return this.#batch.add(work);
  }

  /** What keeps the database from being used now; undefined when nothing does. */
  findFault(): string | undefined {
    if (!this.sqlite.open) return 'it is closed';
    try {
      this.sqlite.prepare('SELECT 1 FROM projects LIMIT 1').get();
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  /** The file was opened before; from now on, a thread keeps the log of it short. */
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

/**
 * Takes the data folder for this process, opens its database `millrace.db`, and brings the tables up to date.
 *
 * @throws AppError `data-dir-unusable` when the folder cannot be written or is taken; `database-unusable` when the file is not
 *   a database, is damaged, or was made by a newer version
 */
export function openDatabase(options: { dataDir: string }): Database {
  const lock = DataFolderLock.acquire(options.dataDir);
  const path = join(options.dataDir, 'millrace.db');
  let sqlite: Sqlite.Database | undefined;
  try {
    assertRestoreFinished(options.dataDir);
    // Made by us first, because it holds stream keys: only this user may read it, and SQLite gives its own files the same mode.
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

/**
 * Opens the database of a data folder for a few changes, whether a server runs on the folder or not. Neither the folder's lock nor
 * the tables are touched.
 *
 * @throws AppError `database-unusable` when there is no database yet, or its tables are those of another version
 */
export function openDatabaseWithoutLock({ dataDir }: { dataDir: string }): Database {
  const path = join(dataDir, 'millrace.db');
  assertRestoreFinished(dataDir);
  if (!existsSync(path)) {
    throw new AppError(
      'database-unusable',
      `There is no database in ${dataDir} yet: the server makes it at its first start.`,
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
