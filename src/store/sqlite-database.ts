import Sqlite from 'better-sqlite3';
import type { Compilable } from 'kysely';
import { AppError, messageOf } from '../shared/errors.ts';
import { FilePlace } from '../shared/files/file-place.ts';
import { Checkpointer } from './checkpointer.ts';
import type { Queries, Transaction } from './connection.ts';
import { type DataFolderLock, goneMessage } from './data-folder-lock.ts';
import type { Database } from './database.ts';
import { LocalSignals } from './signals.ts';
import { addSqlFunctions } from './sql-functions.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import { sqliteQueries } from './sqlite-queries.ts';
import { SqliteTransaction } from './sqlite-transaction.ts';
import { SqliteWriter } from './sqlite-writer.ts';
import { runInScope, runShared, share, sharedTransaction, TransactionScope } from './transaction-scope.ts';

/** Searches among a million videos read more pages than SQLite's default of 2 MiB holds. */
export const cacheKibibytes = 16 * 1_024;

/** One writer with group commit. Reads use its connection, or a second one while a transaction is open. */
export class SqliteDatabase implements Database {
  readonly name = 'database';
  readonly dialect = 'sqlite';
  readonly queries: Queries;
  readonly signals = new LocalSignals();
  readonly #main: SqliteConnection;
  readonly #lock: DataFolderLock | undefined;
  readonly #checkpointer: Checkpointer;
  readonly #writer: SqliteWriter;
  readonly #file: FilePlace;
  /** The write-ahead log and its index. */
  readonly #logFiles: readonly FilePlace[];
  #reader: SqliteConnection | undefined;

  constructor(sqlite: Sqlite.Database, lock: DataFolderLock | undefined) {
    this.queries = sqliteQueries();
    // Waiting for other processes would block everybody: the writer tries again.
    sqlite.pragma('busy_timeout = 0');
    // Savepoints copy the pages that they change: beyond 64 KiB, into a file.
    sqlite.pragma('temp_store = MEMORY');
    this.#main = new SqliteConnection(sqlite);
    this.#lock = lock;
    this.#file = new FilePlace(sqlite.name);
    const log = new FilePlace(`${sqlite.name}-wal`);
    this.#logFiles = [log, new FilePlace(`${sqlite.name}-shm`)];
    this.#checkpointer = new Checkpointer(sqlite, {
      canOpen: () => this.#findLostFile() === undefined,
      logBytes: () => log.bytes,
    });
    this.#writer = new SqliteWriter(this.#main, {
      mayBegin: () => this.#checkpointer.pending(),
      assertUsable: () => {
        const fault = this.#findLostFile();
        if (fault !== undefined) throw new AppError('database-unusable', fault);
      },
    });
  }

  async all<Row>(query: Compilable<Row>): Promise<Row[]> {
    const shared = sharedTransaction();
    if (shared !== undefined) return shared.all(query);
    const compiled = query.compile();
    if (this.#main.prepare(compiled.sql).readonly) return this.#readable.all(compiled);
    return this.#writeStatement(() => this.#main.all(compiled));
  }

  async first<Row>(query: Compilable<Row>): Promise<Row | undefined> {
    const shared = sharedTransaction();
    if (shared !== undefined) return shared.first(query);
    const compiled = query.compile();
    if (this.#main.prepare(compiled.sql).readonly) return this.#readable.first(compiled);
    return this.#writeStatement(() => this.#main.first(compiled));
  }

  async run(query: Compilable): Promise<number> {
    const shared = sharedTransaction();
    if (shared !== undefined) return shared.run(query);
    const compiled = query.compile();
    return this.#writeStatement(() => this.#main.run(compiled));
  }

  runUrgent(query: Compilable): Promise<number> {
    return this.run(query);
  }

  async transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    const shared = sharedTransaction();
    if (shared !== undefined) return runShared(shared, work);
    this.#checkpointer.wake();
    const scope = new TransactionScope();
    const transaction = new SqliteTransaction(this.#main, this.queries, scope);
    return this.#writer.addWork({
      run: () => runInScope(scope, () => work(transaction)),
      abandon: () => scope.end(),
      committed: () => scope.notifyCommitted(),
    });
  }

  sharedTransaction<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.transaction(transaction => share(transaction, work));
  }

  afterCommit(listener: () => void): void {
    const shared = sharedTransaction();
    if (shared === undefined) listener();
    else shared.afterCommit(listener);
  }

  /** Reads the state after the last commit, without a transaction in between: `read` must be synchronous. */
  readNow<Result>(read: (connection: SqliteConnection) => Result): Result {
    if (sharedTransaction() !== undefined)
      throw new AppError('server-error', 'A shared transaction must not read beside its handle.');
    return read(this.#readable);
  }

  /** Changes with each commit of this process. */
  get commits(): number {
    return this.#writer.commits;
  }

  async findFault(): Promise<string | undefined> {
    if (!this.#main.sqlite.open) return 'it is closed';
    try {
      const fault = this.#findLostFile();
      if (fault !== undefined) return fault;
      this.#main.sqlite.prepare('SELECT 1 FROM projects LIMIT 1').get();
      return this.#lock?.findFault();
    } catch (error) {
      return messageOf(error);
    }
  }

  /** Frees cached pages, and ends the thread for checkpoints until the next one. */
  releaseMemory(): void {
    this.#checkpointer.endThread();
    for (const connection of [this.#main, this.#reader]) connection?.sqlite.pragma('shrink_memory');
  }

  /** Starts the checkpoints; the database is already open. */
  async start(): Promise<void> {
    this.#checkpointer.start();
  }

  async stop(): Promise<void> {
    await this.#checkpointer.stop();
    await this.#writer.finish();
    this.#reader?.close();
    this.#main.close();
    this.#lock?.release();
  }

  #writeStatement<Result>(run: () => Result): Promise<Result> {
    this.#checkpointer.wake();
    return this.#writer.addStatement(run);
  }

  /** Tells why nothing more may be written: after a crash, nobody would find it. */
  #findLostFile(): string | undefined {
    if (!this.#file.isUnchanged()) return goneMessage(this.#file.path);
    const lost = this.#logFiles.find(file => !file.isUnchanged());
    if (lost === undefined) return undefined;
    // Moves what was committed into the file, while this connection still has the log.
    if (!this.#writer.isOpen) this.#main.sqlite.pragma('wal_checkpoint(PASSIVE)');
    return `${lost.path} is not the file that the server opened: it was deleted or replaced. Start the server again: what it has stored is kept.`;
  }

  get #readable(): SqliteConnection {
    if (!this.#writer.isOpen) return this.#main;
    this.#reader ??= openReader(this.#main.sqlite.name);
    return this.#reader;
  }
}

function openReader(path: string): SqliteConnection {
  const sqlite = new Sqlite(path, { readonly: true, timeout: 0 });
  sqlite.pragma(`cache_size = -${cacheKibibytes}`);
  addSqlFunctions(sqlite);
  return new SqliteConnection(sqlite);
}
