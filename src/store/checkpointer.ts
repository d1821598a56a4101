import { Worker } from 'node:worker_threads';
import type Sqlite from 'better-sqlite3';
import { OnDemandInterval } from '../shared/scheduling/on-demand-interval.ts';

const checkIntervalMs = 100;
const restartDelayMs = 2_000;
const changesPerCheckpoint = 500;
const pageBytes = 4_096;
/** 16 MiB. Above it, batches wait for the next checkpoint, so that the log restarts from its beginning. */
const maxLogPages = 4_096;
/** 48 MiB. Above it, batches wait at once, however long a checkpoint takes that runs. */
const maxLogPagesAtOnce = 12_288;
/** 64 MiB. Above it, SQLite runs a checkpoint itself, on the main thread. */
const maxUnattendedLogPages = 16_384;
/** SQLite's default, used while the thread does not run. */
const defaultCheckpointPages = 1_000;
const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 };

/** Commits append to the log, which is fast; a thread copies it into the file, which waits for the disk. */
export class Checkpointer {
  readonly #sqlite: Sqlite.Database;
  readonly #totalChanges;
  /** Looks at the log without a checkpoint. */
  readonly #logState;
  readonly #canOpen: () => boolean;
  readonly #logBytes: () => number;
  #worker: Worker | undefined;
  #checks: OnDemandInterval | undefined;
  #checkpointedChanges = 0;
  #lastSeenChanges = 0;
  /** A time of `performance.now()`. */
  #nextThreadAtMs = 0;
  #isBusy = false;
  /** True for a checkpoint during which nothing is written, so that it can reach the end of the log. */
  #isBlocking = false;
  #maxPages = maxLogPagesAtOnce;
  #pendingCheckpoint: PromiseWithResolvers<void> | undefined;

  /**
   * @param options.canOpen false when another connection would not find the log
   * @param options.logBytes size of the log's file, which may be that before the last batch
   */
  constructor(
    sqlite: Sqlite.Database,
    { canOpen, logBytes }: { readonly canOpen: () => boolean; readonly logBytes: () => number },
  ) {
    this.#sqlite = sqlite;
    this.#canOpen = canOpen;
    this.#logBytes = logBytes;
    // A longer file is cut when the log restarts.
    sqlite.pragma(`journal_size_limit = ${maxLogPagesAtOnce * pageBytes}`);
    this.#logState = sqlite.prepare<[], { log: number; checkpointed: number }>('PRAGMA wal_checkpoint(NOOP)');
    this.#totalChanges = sqlite.prepare<[], number>('SELECT total_changes()').pluck();
  }

  /** Pending while batches must wait for a checkpoint. Call this before each batch. */
  pending(): Promise<void> | undefined {
    if (this.#checks !== undefined && this.#pendingCheckpoint === undefined && this.#isLogTooLong())
      this.#block();
    return this.#pendingCheckpoint?.promise;
  }

  start(): void {
    this.#checks = new OnDemandInterval(checkIntervalMs, () => this.#check());
    this.#checks.wake();
  }

  /** Call this before each write. */
  wake(): void {
    this.#checks?.wake();
  }

  /** The next checkpoint starts another one. */
  endThread(): void {
    if (!this.#isBusy) void this.#worker?.terminate();
  }

  async stop(): Promise<void> {
    this.#checks?.stop();
    await this.#worker?.terminate();
  }

  /** Returns true while the database changes or a checkpoint is due. */
  #check(): boolean {
    if (this.#isBusy) return true;
    const changes = this.#totalChanges.get() ?? 0;
    const hasChanged = changes !== this.#lastSeenChanges;
    this.#lastSeenChanges = changes;
    if (changes - this.#checkpointedChanges < changesPerCheckpoint) return hasChanged;
    if (!this.#hasThread()) return true;
    this.#checkpointedChanges = changes;
    this.#requestCheckpoint();
    return true;
  }

  #isLogTooLong(): boolean {
    const isShort = this.#logBytes() <= maxLogPagesAtOnce * pageBytes;
    if (isShort) {
      this.#maxPages = maxLogPagesAtOnce;
      return false;
    }
    try {
      const { log, checkpointed } = this.#logState.get()!;
      if (log <= maxLogPagesAtOnce) this.#maxPages = maxLogPagesAtOnce;
      // The next write restarts a log of which everything is in the file.
      return log > this.#maxPages && checkpointed < log;
    } catch {
      // The database is closed, or locked by another process, as the batch will tell.
      return false;
    }
  }

  #block(): void {
    // SQLite bounds the log itself without the thread.
    if (!this.#isBusy && !this.#hasThread()) return;
    this.#pendingCheckpoint = Promise.withResolvers();
    if (!this.#isBusy) this.#requestCheckpoint();
  }

  /** Starts it where it can. */
  #hasThread(): boolean {
    if (this.#worker === undefined && performance.now() >= this.#nextThreadAtMs && this.#canOpen())
      this.#startThread();
    return this.#worker !== undefined;
  }

  #startThread(): void {
    const worker = new Worker(new URL('./checkpoint-worker.js', import.meta.url), {
      workerData: this.#sqlite.name,
      resourceLimits,
    });
    this.#worker = worker;
    worker.unref();
    worker.on('message', (pagesInLog: number) => this.#checkpointed(pagesInLog));
    // Lets SQLite run checkpoints itself after any error, such as a full disk, until the next thread.
    worker.on('error', () => this.#handleThreadEnd(worker));
    worker.on('exit', () => this.#handleThreadEnd(worker));
    this.#sqlite.pragma(`wal_autocheckpoint = ${maxUnattendedLogPages}`);
  }

  #requestCheckpoint(): void {
    this.#isBusy = true;
    this.#isBlocking = this.#pendingCheckpoint !== undefined;
    this.#worker?.postMessage('checkpoint');
  }

  #checkpointed(pagesInLog: number): void {
    this.#isBusy = false;
    if (this.#pendingCheckpoint !== undefined && !this.#isBlocking) this.#requestCheckpoint();
    else if (this.#pendingCheckpoint !== undefined) {
      // While a reader keeps the log from restarting, it grows by so much at a time.
      this.#maxPages = pagesInLog + maxLogPagesAtOnce;
      this.#pendingCheckpoint.resolve();
      this.#pendingCheckpoint = undefined;
    } else if (pagesInLog > maxLogPages) {
      this.#pendingCheckpoint = Promise.withResolvers();
      this.#requestCheckpoint();
    }
  }

  #handleThreadEnd(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#nextThreadAtMs = performance.now() + restartDelayMs;
    this.#isBusy = false;
    this.#pendingCheckpoint?.resolve();
    this.#pendingCheckpoint = undefined;
    if (this.#sqlite.open) this.#sqlite.pragma(`wal_autocheckpoint = ${defaultCheckpointPages}`);
  }
}
