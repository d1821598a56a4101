import { lstatSync } from 'node:fs';
import type { Clock } from '../../shared/clock.ts';
import { dayMs } from '../../shared/day.ts';

/** File systems have coarse timestamps. */
const clockGranularityMs = 3_000;

/** Compares the inode change time, which programs cannot set. */
export class FileAge {
  readonly startedAtMs: number;
  readonly #clock: Clock;
  readonly #startedAtMonotonicMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.startedAtMs = clock.nowMs();
    this.#startedAtMonotonicMs = clock.monotonicMs();
  }

  isOld(path: string): boolean | undefined {
    const info = lstatSync(path, { throwIfNoEntry: false });
    return info === undefined ? undefined : info.ctimeMs < this.#oldBeforeMs();
  }

  /**
   * Tells whether a file of another server is old: one that is older than this process may still be in the making.
   */
  isDayOld(atMs: number): boolean {
    return atMs < this.#dayAgoMs() - clockGranularityMs;
  }

  #oldBeforeMs(): number {
    const startMs = Math.min(this.startedAtMs, this.#clock.nowMs() - this.#upMs());
    return Math.max(startMs, this.#dayAgoMs()) - clockGranularityMs;
  }

  /** The clock may have been set: requires age by both the previous and the current time. */
  #dayAgoMs(): number {
    return Math.min(this.#clock.nowMs(), this.startedAtMs + this.#upMs()) - dayMs;
  }

  #upMs(): number {
    return this.#clock.monotonicMs() - this.#startedAtMonotonicMs;
  }
}
