import type { Clock } from '../shared/clock.ts';
import { isDiskFull } from '../shared/disk-error.ts';
import type { Logger } from '../shared/logger.ts';

/** What {@link RewindRoom} is made with. */
export interface RewindRoomOptions {
  /** Bytes that can still be written to the disk. */
  readonly freeBytes: () => Promise<number>;
  /** Nothing is written while less is free. */
  readonly minFreeBytes: number;
  readonly clock: Clock;
  readonly log: Logger;
}

const checkEveryMs = 5000;
/** After a write that failed nothing is tried for so long. */
const pauseMs = 10_000;

/** Whether there is room on the disk for rewinding, over all broadcasts: one look each few seconds, one line when it stops or goes on. */
export class RewindRoom {
  readonly #options: RewindRoomOptions;
  #checkedAtMs = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #isTight = false;
  #trouble: string | undefined;

  constructor(options: RewindRoomOptions) {
    this.#options = options;
  }

  /** Whether to write. Looks at the disk again, for the next time, when the last look is old. */
  hasRoom(): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#checkedAtMs >= checkEveryMs) {
      this.#checkedAtMs = nowMs;
      void this.check();
    }
    return !this.#isTight && nowMs >= this.#pausedUntilMs;
  }

  /** Looks at the disk. */
  async check(): Promise<void> {
    const { freeBytes, minFreeBytes } = this.#options;
    try {
      // A little more to go on than to stop, so that it does not go back and forth.
      const needed = this.#isTight ? minFreeBytes * 1.1 : minFreeBytes;
      this.#isTight = (await freeBytes()) < needed;
      if (this.#isTight) this.#tell('disk-low');
    } catch (error) {
      this.failed(error);
    }
  }

  /** A write failed. */
  failed(error: unknown): void {
    this.#pausedUntilMs = this.#options.clock.monotonicMs() + pauseMs;
    this.#tell(isDiskFull(error) ? 'disk-full' : 'disk-error', error);
  }

  /** A segment left the memory before it was written. */
  lagged(): void {
    this.#tell('disk-slow');
  }

  /** A segment was written. */
  written(): void {
    if (this.#trouble === undefined) return;
    this.#options.log.info('rewind-goes-on', { after: this.#trouble });
    this.#trouble = undefined;
  }

  #tell(trouble: string, error?: unknown): void {
    if (this.#trouble !== undefined) return;
    this.#trouble = trouble;
    this.#options.log.warn('rewind-cut-short', {
      reason: trouble,
      effect: 'viewers can go back no further than what is in memory',
      ...(error === undefined ? {} : { error }),
    });
  }
}
