import type { Logger } from './logger.ts';

const intervalMs = 1_000;

export class ThrottledLog {
  readonly #log: Logger;
  #loggedAtMs = Number.NEGATIVE_INFINITY;
  #count = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  warn(event: string, data: Readonly<Record<string, unknown>>): void {
    this.#count += 1;
    const nowMs = performance.now();
    if (nowMs - this.#loggedAtMs < intervalMs) return;
    this.#log.warn(event, { ...data, count: this.#count });
    this.#loggedAtMs = nowMs;
    this.#count = 0;
  }
}
