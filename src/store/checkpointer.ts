import { Worker } from 'node:worker_threads';
import type Sqlite from 'better-sqlite3';
import { OnDemandInterval } from '../shared/scheduling/on-demand-interval.ts';
import type { CheckpointReport } from './checkpoint-worker.ts';

/** The log is looked at this often while the database changes. */
const lookEveryMs = 100;
/** A thread that died is replaced this much later. */
const replacedAfterMs = 2_000;
/** Changed rows after which the log is written into the file. */
const changesBefore = 500;
/** A log of so many pages (16 MiB) is brought to its end: batches wait for the rest of it, so that it begins anew. */
const pagesBeforeEnd = 4_096;
/** A log of so many pages (64 MiB) that others keep growing meanwhile is written by SQLite itself, whoever waits. */
const pagesAtMost = 16_384;
/** What SQLite has unless told otherwise; in force while the thread does not run. */
const pagesWithoutThread = 1_000;
/** The thread needs next to nothing of what V8 gives it. */
const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 };

/**
 * Has the log of a database written into its file by a thread of its own. A commit only appends to the log, which is quick; its pages
 * go to their places in the file later, and that waits for the disk. The thread takes some memory and some time to start: a server that changes little
 * does without it.
 */
export class Checkpointer {
  readonly #sqlite: Sqlite.Database;
  readonly #totalChanges;
  #worker: Worker | undefined;
  #looks: OnDemandInterval | undefined;
  /** Changed rows when the log was written last, and when it was looked at last. */
  #changes = 0;
  #seenChanges = 0;
  /** There is no thread before this time of `performance.now`. */
  #threadAtMs = 0;
  #isBusy = false;
  #ending: PromiseWithResolvers<void> | undefined;

  constructor(sqlite: Sqlite.Database) {
    this.#sqlite = sqlite;
    this.#totalChanges = sqlite.prepare<[], number>('SELECT total_changes()').pluck();
  }

  /** What writers that can wait should wait for now, if there is anything. */
  get ending(): Promise<void> | undefined {
    return this.#ending?.promise;
  }

  /** Begins to look after the log. */
  start(): void {
    this.#looks = new OnDemandInterval(lookEveryMs, () => this.#look());
    this.#looks.wake();
  }

  /** To be called when something is written. */
  wake(): void {
    this.#looks?.wake();
  }

  /** Ends the thread and waits for its end. */
  async stop(): Promise<void> {
    this.#looks?.stop();
    await this.#worker?.terminate();
  }

  /** Returns whether the database still changes or its log is to be written. */
  #look(): boolean {
    if (this.#isBusy) return true;
    const changes = this.#totalChanges.get() ?? 0;
    const hasChanged = changes !== this.#seenChanges;
    this.#seenChanges = changes;
    if (changes - this.#changes < changesBefore) return hasChanged;
    if (this.#worker === undefined) {
      if (performance.now() < this.#threadAtMs) return true;
      this.#startThread();
    }
    this.#changes = changes;
    this.#ask();
    return true;
  }

  #startThread(): void {
    const worker = new Worker(new URL('./checkpoint-worker.ts', import.meta.url), {
      workerData: this.#sqlite.name,
      resourceLimits,
    });
    this.#worker = worker;
    worker.unref();
    worker.on('message', (report: CheckpointReport) => this.#done(report));
    // Whatever has ended it, such as a full disk: SQLite does without it until there is another one.
    worker.on('error', () => this.#forget(worker));
    worker.on('exit', () => this.#forget(worker));
    this.#sqlite.pragma(`wal_autocheckpoint = ${pagesAtMost}`);
  }

  #ask(): void {
    this.#isBusy = true;
    this.#worker?.postMessage('checkpoint');
  }

  #done({ inLog }: CheckpointReport): void {
    this.#isBusy = false;
    if (this.#ending !== undefined) {
      this.#ending.resolve();
      this.#ending = undefined;
    } else if (inLog > pagesBeforeEnd) {
      this.#ending = Promise.withResolvers();
      this.#ask();
    }
  }

  #forget(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#threadAtMs = performance.now() + replacedAfterMs;
    this.#isBusy = false;
    this.#ending?.resolve();
    this.#ending = undefined;
    if (this.#sqlite.open) this.#sqlite.pragma(`wal_autocheckpoint = ${pagesWithoutThread}`);
  }
}
