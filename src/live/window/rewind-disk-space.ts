import type { Clock } from '../../shared/clock.ts';
import { isDiskFull } from '../../shared/files/disk-error.ts';
import type { Logger } from '../../shared/logger.ts';

interface RewindDiskSpaceOptions {
  readonly freeBytes: () => Promise<number>;
  /** Writing pauses below this. */
  readonly minFreeBytes: number;
  readonly clock: Clock;
  readonly log: Logger;
}

const checkIntervalMs = 5000;
const pauseMs = 10_000;

export class RewindDiskSpace {
  readonly #options: RewindDiskSpaceOptions;
  #checkedAtMs = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #isLow = false;
  #problem: string | undefined;

  constructor(options: RewindDiskSpaceOptions) {
    this.#options = options;
  }

  hasSpace(): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#checkedAtMs >= checkIntervalMs) {
      this.#checkedAtMs = nowMs;
      void this.check();
    }
    return !this.#isLow && nowMs >= this.#pausedUntilMs;
  }

  async check(): Promise<void> {
    const { freeBytes, minFreeBytes } = this.#options;
    try {
      // More space is needed to resume than to pause, so that writing does not alternate.
      const needed = this.#isLow ? minFreeBytes * 1.1 : minFreeBytes;
      this.#isLow = (await freeBytes()) < needed;
      if (this.#isLow) this.#warnOnce('disk-low');
    } catch (error) {
      this.writeFailed(error);
    }
  }

  writeFailed(error: unknown): void {
    this.#pausedUntilMs = this.#options.clock.monotonicMs() + pauseMs;
    this.#warnOnce(isDiskFull(error) ? 'disk-full' : 'disk-error', error);
  }

  writeLagged(): void {
    this.#warnOnce('disk-slow');
  }

  writeSucceeded(): void {
    if (this.#problem === undefined) return;
    this.#options.log.info('rewind-resumed', { after: this.#problem });
    this.#problem = undefined;
  }

  #warnOnce(trouble: string, error?: unknown): void {
    if (this.#problem !== undefined) return;
    this.#problem = trouble;
    this.#options.log.warn('rewind-paused', {
      reason: trouble,
      effect: 'viewers can go back no further than what is in memory',
      ...(error === undefined ? {} : { error }),
    });
  }
}
