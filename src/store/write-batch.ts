import type Sqlite from 'better-sqlite3';

interface Waiting {
  readonly work: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The rest goes into the next transaction, after an event loop iteration. */
const maxTransactionMs = 4;

/**
 * Runs the work of many callers in one transaction: writing pages that all of them change once costs far less
 * than one commit each. Each work fails or succeeds on its own, and its caller gets the result after the
 * commit. The callers bound the queue, since each waits for its result.
 */
export class WriteBatch {
  readonly #nested: Sqlite.Transaction<(work: () => unknown) => unknown>;
  readonly #transaction: Sqlite.Transaction<() => void>;
  readonly #sqlite: Sqlite.Database;
  readonly #mayBegin: () => Promise<void> | undefined;
  #waiting: Waiting[] = [];
  /** Run after the commit of the current transaction. */
  #notifications: (() => void)[] = [];
  #started: Waiting[] = [];
  #isScheduled = false;

  /** @param mayBegin called before each transaction; returns undefined, or a promise to wait for */
  constructor(sqlite: Sqlite.Database, mayBegin: () => Promise<void> | undefined) {
    this.#sqlite = sqlite;
    this.#mayBegin = mayBegin;
    this.#nested = sqlite.transaction(work => work());
    this.#transaction = sqlite.transaction(() => this.#runWaiting());
  }

  /** `work` must be synchronous. Settles after the commit. */
  add<Result>(work: () => Result): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
    this.#schedule();
    return promise;
  }

  /** Runs waiting work at once, so that the database can be closed. Later work fails. */
  finish(): void {
    while (this.#waiting.length > 0) this.#run();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      const blocked = this.#mayBegin();
      if (blocked === undefined) this.#run();
      else void blocked.finally(() => this.#run());
    });
  }

  #run(): void {
    this.#isScheduled = false;
    if (this.#waiting.length === 0) return;
    this.#notifications = [];
    this.#started = [];
    try {
      this.#transaction.immediate();
      for (const notify of this.#notifications) notify();
    } catch (error) {
      if (this.#started.length === 0) {
        // The transaction could not begin: the database is closed or locked by another process. More work
        // would fail, too.
        this.#started = this.#waiting;
        this.#waiting = [];
      }
      for (const { reject } of this.#started) reject(error);
    }
    if (this.#waiting.length > 0) this.#schedule();
  }

  #runWaiting(): void {
    const endMs = performance.now() + maxTransactionMs;
    let started = 0;
    for (const entry of this.#waiting) {
      started += 1;
      this.#started.push(entry);
      try {
        const value = this.#nested(entry.work);
        this.#notifications.push(() => entry.resolve(value));
      } catch (error) {
        // A full disk rolls back the whole transaction, including earlier work.
        if (!this.#sqlite.inTransaction) {
          this.#waiting = this.#waiting.slice(started);
          throw error;
        }
        this.#notifications.push(() => entry.reject(error));
      }
      if (performance.now() > endMs) break;
    }
    this.#waiting = this.#waiting.slice(started);
  }
}
