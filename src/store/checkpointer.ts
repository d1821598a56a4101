import { Worker } from 'node:worker_threads';
import type Sqlite from 'better-sqlite3';
import { OnDemandInterval } from '../shared/scheduling/on-demand-interval.ts';

const checkIntervalMs = 100;
const restartDelayMs = 2_000;
const changesPerCheckpoint = 500;
/** 16 MiB. Above it, batches wait for the next checkpoint, so that the log restarts from its beginning. */
const maxLogPages = 4_096;
/** 64 MiB. Above it, SQLite runs a checkpoint itself, on the main thread. */
const maxUnattendedLogPages = 16_384;
/** SQLite's default, used while the thread does not run. */
const defaultCheckpointPages = 1_000;
const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 };

/** Commits append to the log, which is fast; a thread copies it into the file, which waits for the disk. */
export class Checkpointer {
  readonly #sqlite: Sqlite.Database;
  readonly #totalChanges;
  readonly #canOpen: () => boolean;
  #worker: Worker | undefined;
  #checks: OnDemandInterval | undefined;
  #checkpointedChanges = 0;
  #lastSeenChanges = 0;
  /** A time of `performance.now()`. */
  #nextThreadAtMs = 0;
  #isBusy = false;
  #pendingCheckpoint: PromiseWithResolvers<void> | undefined;

  /** @param canOpen false when another connection would not find the log */
  constructor(sqlite: Sqlite.Database, canOpen: () => boolean) {
    this.#sqlite = sqlite;
    this.#canOpen = canOpen;
    this.#totalChanges = sqlite.prepare<[], number>('SELECT total_changes()').pluck();
  }

  /** Pending while batches must wait for a checkpoint. */
  get pending(): Promise<void> | undefined {
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
    if (this.#worker === undefined) {
      if (performance.now() < this.#nextThreadAtMs || !this.#canOpen()) return true;
      this.#startThread();
    }
    this.#checkpointedChanges = changes;
    this.#requestCheckpoint();
    return true;
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
    this.#worker?.postMessage('checkpoint');
  }

  #checkpointed(pagesInLog: number): void {
    this.#isBusy = false;
    if (this.#pendingCheckpoint !== undefined) {
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
