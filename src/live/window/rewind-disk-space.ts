import type { Clock } from '../../shared/clock.ts';
import { isDiskFull } from '../../shared/files/disk-error.ts';
import type { Logger } from '../../shared/logger.ts';

/** What {@link RewindDiskSpace} is made with. */
export interface RewindDiskSpaceOptions {
  /** Bytes that can still be written to the disk. */
  readonly freeBytes: () => Promise<number>;
  /** Nothing is written while less is free. */
  readonly minFreeBytes: number;
  readonly clock: Clock;
  readonly log: Logger;
}

const checkIntervalMs = 5000;
/** After a write that failed nothing is tried for so long. */
const pauseMs = 10_000;

/** Whether there is room on the disk for rewinding, over all broadcasts: one look each few seconds, one line when it stops or goes on. */
export class RewindDiskSpace {
  readonly #options: RewindDiskSpaceOptions;
  #checkedAtMs = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #isLow = false;
  #problem: string | undefined;

  constructor(options: RewindDiskSpaceOptions) {
    this.#options = options;
  }

  /** Whether to write. Looks at the disk again, for the next time, when the last look is old. */
  hasSpace(): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#checkedAtMs >= checkIntervalMs) {
      this.#checkedAtMs = nowMs;
      void this.check();
    }
    return !this.#isLow && nowMs >= this.#pausedUntilMs;
  }

  /** Looks at the disk. */
  async check(): Promise<void> {
    const { freeBytes, minFreeBytes } = this.#options;
    try {
      // A little more to go on than to stop, so that it does not go back and forth.
      const needed = this.#isLow ? minFreeBytes * 1.1 : minFreeBytes;
      this.#isLow = (await freeBytes()) < needed;
      if (this.#isLow) this.#warnOnce('disk-low');
    } catch (error) {
      this.writeFailed(error);
    }
  }

  /** A write failed. */
  writeFailed(error: unknown): void {
    this.#pausedUntilMs = this.#options.clock.monotonicMs() + pauseMs;
    this.#warnOnce(isDiskFull(error) ? 'disk-full' : 'disk-error', error);
  }

  /** A segment left the memory before it was written. */
  writeLagged(): void {
    this.#warnOnce('disk-slow');
  }

  /** A segment was written. */
  writeSucceeded(): void {
    if (this.#problem === undefined) return;
    this.#options.log.info('rewind-goes-on', { after: this.#problem });
    this.#problem = undefined;
  }

  #warnOnce(trouble: string, error?: unknown): void {
    if (this.#problem !== undefined) return;
    this.#problem = trouble;
    this.#options.log.warn('rewind-cut-short', {
      reason: trouble,
      effect: 'viewers can go back no further than what is in memory',
      ...(error === undefined ? {} : { error }),
    });
  }
}
