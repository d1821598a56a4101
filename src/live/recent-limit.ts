import type { Clock } from '../shared/clock.ts';

/** Lets something happen so many times in so long, and says when that is used up. */
export class RecentLimit {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #withinMs: number;
  /** Monotonic times, oldest first; never more than `#most`. */
  #takenAtMs: number[] = [];

  /** @param most how many times within `withinMs` */
  constructor(clock: Clock, most: number, withinMs: number) {
    this.#clock = clock;
    this.#most = most;
    this.#withinMs = withinMs;
  }

  /** Takes one, unless none is left; what is refused does not count. */
  take(): boolean {
    const nowMs = this.#clock.monotonicMs();
    this.#takenAtMs = this.#takenAtMs.filter(atMs => nowMs - atMs < this.#withinMs);
    if (this.#takenAtMs.length >= this.#most) return false;
    this.#takenAtMs.push(nowMs);
    return true;
  }
}
