import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../shared/errors.ts';
import { OnDemandInterval } from '../shared/scheduling/on-demand-interval.ts';
import { isBusy, lockedError } from './database-lock.ts';
import type { SqliteConnection } from './sqlite-connection.ts';

/** A transaction of a caller. */
interface SqliteWork<Result> {
  run(): Promise<Result>;
  /** Called when the work may not write any more, although it has not ended. */
  abandon(): void;
  /** Called after the commit, before any caller resumes. */
  committed(): void;
}

interface Waiting {
  /** Synchronous. */
  readonly statement?: () => unknown;
  readonly work?: SqliteWork<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Time that writes wait for another process. */
const maxLockedMs = 5_000;
const lockRetryMs = 10;
/** The rest goes into the next transaction, after an event loop iteration. */
const maxTransactionMs = 4;
/** Work waits for nothing but the database, so that this only ends work that waits for itself, or forever. */
const defaultMaxWorkMs = 30_000;

/**
 * Runs the writes of many callers in one transaction: writing pages that all of them change once costs far less than one
 * commit each. Each fails or succeeds on its own, and its caller gets the result after the commit. The callers bound the
 * queue, since each waits for its result.
 */
export class SqliteWriter {
  readonly #connection: SqliteConnection;
  readonly #mayBegin: () => Promise<void> | undefined;
  readonly #assertUsable: () => void;
  readonly #maxWorkMs: number;
  readonly #watch: OnDemandInterval;
  #waiting: Waiting[] = [];
  #isOpen = false;
  #isScheduled = false;
  #running: Promise<void> | undefined;
  #current: { readonly startedAtMs: number; readonly abandon: () => void } | undefined;
  #commits = 0;

  /**
   * @param options.mayBegin called before each transaction; returns undefined, or a promise to wait for
   * @param options.assertUsable throws when nothing may be written
   */
  constructor(
    connection: SqliteConnection,
    {
      mayBegin,
      assertUsable = () => {},
      maxWorkMs = defaultMaxWorkMs,
    }: { mayBegin: () => Promise<void> | undefined; assertUsable?: () => void; maxWorkMs?: number },
  ) {
    this.#connection = connection;
    this.#mayBegin = mayBegin;
    this.#assertUsable = assertUsable;
    this.#maxWorkMs = maxWorkMs;
    this.#watch = new OnDemandInterval(maxWorkMs / 10, () => this.#abandonOverdue());
  }

  /** True while a transaction is open: another connection reads then. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  get commits(): number {
    return this.#commits;
  }

  /** Runs a statement, in order. Settles after the commit. */
  addStatement<Result>(statement: () => Result): Promise<Result> {
    return this.#add({ statement });
  }

  /** Runs `work`, in order. Settles after the commit. */
  addWork<Result>(work: SqliteWork<Result>): Promise<Result> {
    return this.#add({ work });
  }

  /** Runs waiting work, so that the database can be closed. */
  async finish(): Promise<void> {
    while (this.#running !== undefined || this.#waiting.length > 0) {
      await (this.#running ?? this.#run());
    }
    this.#watch.stop();
  }

  #add<Result>(entry: Pick<Waiting, 'statement' | 'work'>): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ ...entry, resolve: resolve as (value: unknown) => void, reject });
    this.#schedule();
    return promise;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#running !== undefined) return;
    this.#isScheduled = true;
    setImmediate(() => {
      const blocked = this.#mayBegin();
      if (blocked === undefined) void this.#run();
      else void blocked.finally(() => this.#run());
    });
  }

  #run(): Promise<void> {
    this.#isScheduled = false;
    this.#running ??= this.#runWaiting().finally(() => {
      this.#running = undefined;
      if (this.#waiting.length > 0) this.#schedule();
    });
    return this.#running;
  }

  async #runWaiting(): Promise<void> {
    if (this.#waiting.length === 0) return;
    try {
      const giveUpAtMs = performance.now() + maxLockedMs;
      while (!this.#begin(giveUpAtMs)) await delay(lockRetryMs);
    } catch (error) {
      // The database is closed or locked by another process. More work would fail, too.
      this.#rejectWaiting(error);
      return;
    }
    if (!this.#isOpen) return;
    const started: Waiting[] = [];
    const settle: (() => void)[] = [];
    try {
      const endMs = performance.now() + maxTransactionMs;
      do {
        const entry = this.#waiting.shift()!;
        started.push(entry);
        if (entry.statement !== undefined) settle.push(this.#attemptStatement(entry.statement, entry));
        if (entry.work !== undefined) {
          settle.push(await this.#attemptWork(entry.work, entry, started.length === 1));
        }
      } while (this.#isInTransaction && this.#waiting.length > 0 && performance.now() < endMs);
      if (this.#isInTransaction) {
        this.#execute('COMMIT');
        this.#commits += 1;
      }
    } catch (error) {
      this.#rollBack();
      settle.length = 0;
      const failure = isBusy(error) ? lockedError(this.#connection.sqlite.name, error) : error;
      for (const { reject } of started) settle.push(() => reject(failure));
    }
    this.#isOpen = false;
    for (const notify of settle) notify();
  }

  /** Begins a transaction, or runs a statement that waits alone. Returns false while another process writes. */
  #begin(giveUpAtMs: number): boolean {
    this.#assertUsable();
    const [first, second] = this.#waiting;
    try {
      if (first?.statement !== undefined && second === undefined) this.#runAlone(first.statement, first);
      else {
        this.#execute('BEGIN IMMEDIATE');
        this.#isOpen = true;
      }
      return true;
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() >= giveUpAtMs) throw lockedError(this.#connection.sqlite.name, error);
      return false;
    }
  }

  #rejectWaiting(error: unknown): void {
    const failed = this.#waiting;
    this.#waiting = [];
    for (const { reject } of failed) reject(error);
  }

  /** A statement is a transaction by itself. @throws an error of a lock, which leaves the statement waiting */
  #runAlone(statement: () => unknown, { resolve, reject }: Waiting): void {
    try {
      const value = statement();
      this.#commits += 1;
      resolve(value);
    } catch (error) {
      if (isBusy(error)) throw error;
      reject(error);
    }
    this.#waiting = [];
  }

  /** Returns what tells the caller, after the commit. @throws an error that ended the whole transaction */
  #attemptStatement(statement: () => unknown, { resolve, reject }: Waiting): () => void {
    try {
      const value = statement();
      return () => resolve(value);
    } catch (error) {
      // A full disk rolls back the whole transaction, including earlier work. Otherwise, a statement undoes itself.
      if (!this.#connection.sqlite.inTransaction) throw error;
      return () => reject(error);
    }
  }

  /** @param isFirst of the transaction, so that nothing else is undone with it */
  async #attemptWork(
    work: SqliteWork<unknown>,
    { resolve, reject }: Waiting,
    isFirst: boolean,
  ): Promise<() => void> {
    const { sqlite } = this.#connection;
    if (!isFirst) this.#execute('SAVEPOINT work');
    try {
      const value = await this.#runWatched(work);
      if (!sqlite.inTransaction) throw new AppError('server-error', 'The transaction was rolled back.');
      if (!isFirst) this.#execute('RELEASE work');
      return () => {
        try {
          work.committed();
          resolve(value);
        } catch (error) {
          reject(error);
        }
      };
    } catch (error) {
      if (!sqlite.inTransaction) throw error;
      // Ends the transaction: another process may begin one before the next work does.
      if (isFirst) this.#execute('ROLLBACK');
      else {
        this.#execute('ROLLBACK TO work');
        this.#execute('RELEASE work');
      }
      return () => reject(error);
    }
  }

  async #runWatched(work: SqliteWork<unknown>): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const abandon = () => {
      work.abandon();
      reject(new AppError('server-error', 'A transaction waited for something else than the database.'));
    };
    this.#current = { startedAtMs: performance.now(), abandon };
    this.#watch.wake();
    work.run().then(resolve, reject);
    try {
      return await promise;
    } finally {
      this.#current = undefined;
    }
  }

  /** Returns false when nothing runs. */
  #abandonOverdue(): boolean {
    if (this.#current === undefined) return false;
    if (performance.now() - this.#current.startedAtMs >= this.#maxWorkMs) this.#current.abandon();
    return true;
  }

  get #isInTransaction(): boolean {
    return this.#connection.sqlite.open && this.#connection.sqlite.inTransaction;
  }

  #rollBack(): void {
    if (this.#isInTransaction) this.#execute('ROLLBACK');
  }

  #execute(sql: string): void {
    this.#connection.prepare(sql).run();
  }
}
