import { lstatSync } from 'node:fs';
import type { Clock } from '../../shared/clock.ts';
import { dayMs } from '../../shared/day.ts';

/** Timestamps of file systems are coarse. */
const clockGranularityMs = 3_000;

/**
 * Tells files that existed when the server started, or for a day, from files that may still be in the making and get their row
 * later. Compares the inode change time, which programs cannot set.
 */
export class FileAge {
  readonly startedAtMs: number;
  readonly #clock: Clock;
  readonly #startedAtMonotonicMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.startedAtMs = clock.nowMs();
    this.#startedAtMonotonicMs = clock.monotonicMs();
  }

  /** Returns whether no one is still writing this; undefined when it does not exist. */
  isOld(path: string): boolean | undefined {
    const info = lstatSync(path, { throwIfNoEntry: false });
    return info === undefined ? undefined : info.ctimeMs < this.#oldBeforeMs();
  }

  /**
   * The machine's clock may have been set since the start. A file is old only if it is old by both the previous and the current
   * time.
   */
  #oldBeforeMs(): number {
    const nowMs = this.#clock.nowMs();
    const upMs = this.#clock.monotonicMs() - this.#startedAtMonotonicMs;
    const startMs = Math.min(this.startedAtMs, nowMs - upMs);
    const dayAgoMs = Math.min(nowMs, this.startedAtMs + upMs) - dayMs;
    return Math.max(startMs, dayAgoMs) - clockGranularityMs;
  }
}
