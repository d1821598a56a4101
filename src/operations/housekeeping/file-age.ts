import { lstatSync } from 'node:fs';
import type { Clock } from '../../shared/clock.ts';
import { dayMs } from '../../shared/day.ts';

/** File systems and their clocks are coarser than ours. */
const clockGranularityMs = 3_000;

/**
 * Tells files that were there when the server started, or for a day, from those that somebody may just be making: their row comes
 * after them. It goes by the time of the last change of what is noted of a file, which no program can set.
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

  /** Whether nobody makes this any more; undefined when there is no such file or folder. */
  isOld(path: string): boolean | undefined {
    const info = lstatSync(path, { throwIfNoEntry: false });
    return info === undefined ? undefined : info.ctimeMs < this.#oldBeforeMs();
  }

  /** The machine's clock may have been set since the start: what counts is what is old by the old time and by the new one. */
  #oldBeforeMs(): number {
    const nowMs = this.#clock.nowMs();
    const upMs = this.#clock.monotonicMs() - this.#startedAtMonotonicMs;
    const startMs = Math.min(this.startedAtMs, nowMs - upMs);
    const dayAgoMs = Math.min(nowMs, this.startedAtMs + upMs) - dayMs;
    return Math.max(startMs, dayAgoMs) - clockGranularityMs;
  }
}
