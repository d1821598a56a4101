import { lstatSync } from 'node:fs';
import { basename } from 'node:path';
import type { Clock } from '../../shared/clock.ts';
import { dayMs } from '../../shared/day.ts';
import { removedPrefix } from '../../storage/removed-prefix.ts';

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

  /** An entry that was set aside is in nobody's use: one from just before the start is old. Undefined when missing. */
  isOld(path: string): boolean | undefined {
    const info = lstatSync(path, { throwIfNoEntry: false });
    const granularityMs = basename(path).startsWith(removedPrefix) ? 0 : clockGranularityMs;
    return info === undefined ? undefined : info.ctimeMs < this.#oldBeforeMs() - granularityMs;
  }

  /**
   * Tells whether a file of another server is old: one that is older than this process may still be in the making.
   */
  isDayOld(atMs: number): boolean {
    return atMs < this.#dayAgoMs() - clockGranularityMs;
  }

  #oldBeforeMs(): number {
    const startMs = Math.min(this.startedAtMs, this.#clock.nowMs() - this.#upMs());
    return Math.max(startMs, this.#dayAgoMs());
  }

  /** The clock may have been set: requires age by both the previous and the current time. */
  #dayAgoMs(): number {
    return Math.min(this.#clock.nowMs(), this.startedAtMs + this.#upMs()) - dayMs;
  }

  #upMs(): number {
    return this.#clock.monotonicMs() - this.#startedAtMonotonicMs;
  }
}
