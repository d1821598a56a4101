import type { Clock } from './clock.ts';

export class SlidingWindowLimit {
  readonly #clock: Clock;
  readonly #maxCount: number;
  readonly #windowMs: number;
  /** Monotonic, oldest first. */
  #takenAtMs: number[] = [];

  constructor(clock: Clock, maxCount: number, windowMs: number) {
    this.#clock = clock;
    this.#maxCount = maxCount;
    this.#windowMs = windowMs;
  }

  take(): boolean {
    const nowMs = this.#clock.monotonicMs();
    this.#takenAtMs = this.#takenAtMs.filter(atMs => nowMs - atMs < this.#windowMs);
    if (this.#takenAtMs.length >= this.#maxCount) return false;
    this.#takenAtMs.push(nowMs);
    return true;
  }
}
