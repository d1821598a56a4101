import type Sqlite from 'better-sqlite3';

interface Waiting {
  readonly work: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** How long one transaction gathers works; what is left goes into the next one, after others had their turn. */
const turnMs = 4;

/**
 * Works of many callers in one transaction: writing pages that all of them change once costs far less than a commit for each.
 * Each work is done or undone by itself, and its caller hears of it after the commit. What waits is bounded by the callers, each of
 * which waits for its own.
 */
export class WriteBatch {
  readonly #nested: Sqlite.Transaction<(work: () => unknown) => unknown>;
  readonly #together: Sqlite.Transaction<() => void>;
  readonly #sqlite: Sqlite.Database;
  readonly #mayBegin: () => Promise<void> | undefined;
  #waiting: Waiting[] = [];
  /** Of the transaction that runs: what to tell its callers once it is committed. */
  #told: (() => void)[] = [];
  #taken: Waiting[] = [];
  #isPlanned = false;

  /** @param mayBegin asked before each transaction: undefined, or what it must wait for */
  constructor(sqlite: Sqlite.Database, mayBegin: () => Promise<void> | undefined) {
    this.#sqlite = sqlite;
    this.#mayBegin = mayBegin;
    this.#nested = sqlite.transaction(work => work());
    this.#together = sqlite.transaction(() => this.#takeAll());
  }

  /** Does `work`, which must not return a promise, with what others add in the same turn; settles after the commit. */
  add<Result>(work: () => Result): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
    this.#plan();
    return promise;
  }

  /** Does at once what waits, so that the database can be closed. Whatever is added after that fails. */
  finish(): void {
    while (this.#waiting.length > 0) this.#run();
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => {
      const hindrance = this.#mayBegin();
      if (hindrance === undefined) this.#run();
      else void hindrance.finally(() => this.#run());
    });
  }

  #run(): void {
    this.#isPlanned = false;
    if (this.#waiting.length === 0) return;
    this.#told = [];
    this.#taken = [];
    try {
      this.#together.immediate();
      for (const tell of this.#told) tell();
    } catch (error) {
      if (this.#taken.length === 0) {
        // It did not even begin: the database is closed, or another process keeps it. The next one would fare no better.
        this.#taken = this.#waiting;
        this.#waiting = [];
      }
      for (const { reject } of this.#taken) reject(error);
    }
    if (this.#waiting.length > 0) this.#plan();
  }

  #takeAll(): void {
    const endMs = performance.now() + turnMs;
    let taken = 0;
    for (const entry of this.#waiting) {
      taken += 1;
      this.#taken.push(entry);
      try {
        const value = this.#nested(entry.work);
        this.#told.push(() => entry.resolve(value));
      } catch (error) {
        // A full disk ends the whole transaction, and with it what was done before.
        if (!this.#sqlite.inTransaction) {
          this.#waiting = this.#waiting.slice(taken);
          throw error;
        }
        this.#told.push(() => entry.reject(error));
      }
      if (performance.now() > endMs) break;
    }
    this.#waiting = this.#waiting.slice(taken);
  }
}
