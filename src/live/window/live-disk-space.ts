import type { Clock } from '../../shared/clock.ts';
import { isDiskFull } from '../../shared/files/disk-error.ts';
import type { Logger } from '../../shared/logger.ts';
import type { FreeSpaceWatch, SpaceLevel } from '../../storage/free-space-watch.ts';

interface LiveDiskSpaceOptions {
  readonly freeSpace: FreeSpaceWatch;
  /** Writing pauses below this. */
  readonly minFreeBytes: number;
  readonly clock: Clock;
  readonly log: Logger;
}

const pauseMs = 10_000;

/** Pauses writing while the disk has too little space, and for a time after an error. */
export class LiveDiskSpace {
  readonly #options: LiveDiskSpaceOptions;
  readonly #level: SpaceLevel;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #problem: string | undefined;

  constructor(options: LiveDiskSpaceOptions) {
    this.#options = options;
    this.#level = options.freeSpace.watch(options.minFreeBytes, hasSpace => {
      if (!hasSpace) this.#warnOnce('disk-low');
    });
  }

  hasSpace(): boolean {
    this.#options.freeSpace.checkOften();
    return this.#level.hasSpace && this.#options.clock.monotonicMs() >= this.#pausedUntilMs;
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
      error,
    });
  }
}
