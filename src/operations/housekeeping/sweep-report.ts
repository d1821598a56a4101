import type { LogData, Logger } from '../../shared/logger.ts';

/** What the rest of the server is told of sweeps. */
export interface SweepObserver {
  /** Something that nobody needs was removed, and so many bytes are free. */
  removed(what: string, bytes: number): void;
  /** Rows were made to say what is there. */
  repaired(what: string): void;
}

/** A sweep that finds more than this says the rest in numbers only. */
const maxLogLines = 200;
const maxKeptLogLines = 10;

/** What one sweep did: lines in the log as it goes, and their sum. */
export class SweepReport {
  readonly #logger: Logger;
  readonly #observer: SweepObserver;
  readonly #removed: Record<string, number> = {};
  readonly #repaired: Record<string, number> = {};
  #freedBytes = 0;
  #keptCount = 0;
  #lines = 0;

  constructor(log: Logger, observer: SweepObserver) {
    this.#logger = log;
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
    this.#log('info', 'orphan-removed', { what, path, bytes });
  }

  repaired(what: string, data: LogData): void {
    this.#repaired[what] = (this.#repaired[what] ?? 0) + 1;
    this.#observer.repaired(what);
    this.#log('warn', `${what}-mended`, data);
  }

  failed(path: string, error: unknown): void {
    this.#log('warn', 'orphan-not-removed', { path, error });
  }

  kept(path: string, reason: string): void {
    this.#keptCount += 1;
    if (this.#keptCount <= maxKeptLogLines) this.#logger.warn('orphan-kept', { path, reason });
  }

  /** The one line of the whole. */
  finish(data: LogData): void {
    this.#logger.info('sweep-done', {
      removed: this.#removed,
      freedBytes: this.#freedBytes,
      mended: this.#repaired,
      ...(this.#keptCount > 0 ? { kept: this.#keptCount } : {}),
      ...data,
    });
  }

  #log(level: 'info' | 'warn', event: string, data: LogData): void {
    this.#lines += 1;
    if (this.#lines <= maxLogLines) this.#logger[level](event, data);
  }
}
