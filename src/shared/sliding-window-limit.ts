import type { Clock } from './clock.ts';

/** Lets something happen so many times in so long, and says when that is used up. */
export class SlidingWindowLimit {
  readonly #clock: Clock;
  readonly #maxCount: number;
  readonly #windowMs: number;
  /** Monotonic times, oldest first; never more than `#most`. */
  #takenAtMs: number[] = [];

  /** @param most how many times within `withinMs` */
  constructor(clock: Clock, most: number, withinMs: number) {
    this.#clock = clock;
    this.#maxCount = most;
    this.#windowMs = withinMs;
  }

  /** Takes one, unless none is left; what is refused does not count. */
  take(): boolean {
    const nowMs = this.#clock.monotonicMs();
    this.#takenAtMs = this.#takenAtMs.filter(atMs => nowMs - atMs < this.#windowMs);
    if (this.#takenAtMs.length >= this.#maxCount) return false;
    this.#takenAtMs.push(nowMs);
    return true;
  }
}
