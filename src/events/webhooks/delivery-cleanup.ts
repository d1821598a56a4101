import { type Clock, systemClock } from '../../shared/clock.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { yieldToEventLoop } from '../../shared/scheduling/yield-to-event-loop.ts';
import type { DeliveryCleanupStore } from './delivery-cleanup.store.ts';

/** Takes some milliseconds even when each was tried for a day and every answer kept; others have their turn between. */
const removedAtOnce = 30;
const everyMs = 60_000;

/** Forgets deliveries that are old, too many, or of webhooks that are gone: at the start, each minute, and when it is told to. */
export class DeliveryCleanup implements Component {
  readonly name = 'delivery-sweeper';
  readonly #store: DeliveryCleanupStore;
  readonly #clock: Clock;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;
  #sweep: Promise<void> | undefined;
  #isAskedAgain = false;
  #isStopped = false;

  constructor(options: { store: DeliveryCleanupStore; clock?: Clock; log: Logger }) {
    this.#store = options.store;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log;
  }

  async start(): Promise<void> {
    this.schedule();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#sweep;
  }

  /** Sweeps now, or once more when it is at it. */
  schedule(): void {
    if (this.#isStopped) return;
    this.#isAskedAgain = true;
    clearTimeout(this.#timer);
    this.#sweep ??= this.#sweepAll().finally(() => {
      this.#sweep = undefined;
      if (!this.#isStopped) this.#timer = setTimeout(() => this.schedule(), everyMs);
    });
  }

  async #sweepAll(): Promise<void> {
    try {
      while (this.#isAskedAgain) {
        this.#isAskedAgain = false;
        const nowMs = this.#clock.nowMs();
        await this.#repeat(() => this.#store.removeOrphans(removedAtOnce));
        await this.#repeat(() => this.#store.removeExpired(nowMs, removedAtOnce));
        await this.#repeat(() => this.#store.removeExcess(removedAtOnce));
      }
    } catch (error) {
      this.#log.error('deliveries-not-removed', { error });
    }
  }

  async #repeat(removeSome: () => number): Promise<void> {
    await yieldToEventLoop();
    while (!this.#isStopped && removeSome() > 0) await yieldToEventLoop();
  }
}
