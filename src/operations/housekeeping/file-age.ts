import { lstatSync } from 'node:fs';
import type { Clock } from '../../shared/clock.ts';
import { dayMs } from '../../shared/day.ts';

/** File systems have coarse timestamps. */
const clockGranularityMs = 3_000;

/**
 * Tells files that existed at the start of the server, or for a day, from files whose row may still come.
 * Compares the inode change time, which programs cannot set.
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

  /** Undefined for a missing file. */
  isOld(path: string): boolean | undefined {
    const info = lstatSync(path, { throwIfNoEntry: false });
    return info === undefined ? undefined : info.ctimeMs < this.#oldBeforeMs();
  }

  /**
   * The machine's clock may have been set since the start: requires age by both the previous and the current
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
