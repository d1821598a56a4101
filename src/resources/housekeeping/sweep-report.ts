import type { LogData, Logger } from '../../shared/logger.ts';

/** What the rest of the server is told of sweeps. */
export interface SweepObserver {
  /** Something that nobody needs was removed, and so many bytes are free. */
  removed(what: string, bytes: number): void;
  /** Rows were made to say what is there. */
  mended(what: string): void;
}

/** A sweep that finds more than this says the rest in numbers only. */
const linesAtMost = 200;
const keptLinesAtMost = 10;

/** What one sweep did: lines in the log as it goes, and their sum. */
export class SweepReport {
  readonly #log: Logger;
  readonly #observer: SweepObserver;
  readonly #removed: Record<string, number> = {};
  readonly #mended: Record<string, number> = {};
  #freedBytes = 0;
  #keptCount = 0;
  #lines = 0;

  constructor(log: Logger, observer: SweepObserver) {
    this.#log = log;
    this.#observer = observer;
  }

  /** Files without a row that may be of another database than this, and stay. */
  get keptCount(): number {
    return this.#keptCount;
  }

  /** @param path relative to the data folder */
  removed(what: string, path: string, bytes: number): void {
    this.#removed[what] = (this.#removed[what] ?? 0) + 1;
    this.#freedBytes += bytes;
    this.#observer.removed(what, bytes);
    this.#say('info', 'orphan-removed', { what, path, bytes });
  }

  mended(what: string, data: LogData): void {
    this.#mended[what] = (this.#mended[what] ?? 0) + 1;
    this.#observer.mended(what);
    this.#say('warn', `${what}-mended`, data);
  }

  failed(path: string, error: unknown): void {
    this.#say('warn', 'orphan-not-removed', { path, error });
  }

  kept(path: string, reason: string): void {
    this.#keptCount += 1;
    if (this.#keptCount <= keptLinesAtMost) this.#log.warn('orphan-kept', { path, reason });
  }

  /** The one line of the whole. */
  finish(data: LogData): void {
    this.#log.info('sweep-done', {
      removed: this.#removed,
      freedBytes: this.#freedBytes,
      mended: this.#mended,
      ...(this.#keptCount > 0 ? { kept: this.#keptCount } : {}),
      ...data,
    });
  }

  #say(level: 'info' | 'warn', event: string, data: LogData): void {
    this.#lines += 1;
    if (this.#lines <= linesAtMost) this.#log[level](event, data);
  }
}
