import type { LogData, Logger } from '../../shared/logger.ts';

export interface SweepObserver {
  removed(what: string, bytes: number): void;
  repaired(what: string): void;
}

const maxLogLines = 200;
const maxKeptLogLines = 10;

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
    this.#log('warn', `${what}-repaired`, data);
  }

  failed(path: string, error: unknown): void {
    this.#log('warn', 'orphan-not-removed', { path, error });
  }

  kept(path: string, reason: string): void {
    this.#keptCount += 1;
    if (this.#keptCount <= maxKeptLogLines) this.#logger.warn('orphan-kept', { path, reason });
  }

  finish(data: LogData): void {
    this.#logger.info('sweep-done', {
      removed: this.#removed,
      freedBytes: this.#freedBytes,
      repaired: this.#repaired,
      ...(this.#keptCount > 0 ? { kept: this.#keptCount } : {}),
      ...data,
    });
  }

  #log(level: 'info' | 'warn', event: string, data: LogData): void {
    this.#lines += 1;
    if (this.#lines <= maxLogLines) this.#logger[level](event, data);
  }
}
