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

  /** The clock may have been set: requires age by both the previous and the current time. */
  #oldBeforeMs(): number {
    const nowMs = this.#clock.nowMs();
    const upMs = this.#clock.monotonicMs() - this.#startedAtMonotonicMs;
    const startMs = Math.min(this.startedAtMs, nowMs - upMs);
    const dayAgoMs = Math.min(nowMs, this.startedAtMs + upMs) - dayMs;
    return Math.max(startMs, dayAgoMs) - clockGranularityMs;
  }
}
