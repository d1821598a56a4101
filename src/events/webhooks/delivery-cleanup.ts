import { type Clock, systemClock } from '../../shared/clock.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { yieldToEventLoop } from '../../shared/scheduling/yield-to-event-loop.ts';
import type { DeliveryCleanupStore } from './delivery-cleanup.store.ts';
import type { WebhookLeaderLease } from './webhook-dispatcher.ts';

/** Takes a few milliseconds even when each delivery has a day of attempts with full responses. */
const batchSize = 30;
const intervalMs = 60_000;

/** Removes deliveries that are too old, too many, or of removed webhooks, each minute and on request, on one server. */
export class DeliveryCleanup implements Component {
  readonly name = 'delivery-sweeper';
  readonly #store: DeliveryCleanupStore;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #leaderLease: WebhookLeaderLease;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isRequested = false;
  #isStopped = false;

  constructor(options: {
    store: DeliveryCleanupStore;
    leaderLease: WebhookLeaderLease;
    clock?: Clock;
    log: Logger;
  }) {
    this.#store = options.store;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log;
    this.#leaderLease = options.leaderLease;
  }

  async start(): Promise<void> {
    this.schedule();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** Cleans up now, or once more after a running cleanup. */
  schedule(): void {
    if (this.#isStopped) return;
    this.#isRequested = true;
    clearTimeout(this.#timer);
    this.#running ??= this.#cleanUp().finally(() => {
      this.#running = undefined;
      if (!this.#isStopped) this.#timer = setTimeout(() => this.schedule(), intervalMs);
    });
  }

  async #cleanUp(): Promise<void> {
    try {
      while (this.#isRequested && this.#leaderLease.isLeader) {
        this.#isRequested = false;
        const nowMs = this.#clock.nowMs();
        await this.#repeat(() => this.#store.removeOrphans(batchSize));
        await this.#repeat(() => this.#store.removeExpired(nowMs, batchSize));
        await this.#repeat(() => this.#store.removeExcess(batchSize));
      }
    } catch (error) {
      this.#log.error('deliveries-not-removed', { error });
    }
  }

  async #repeat(removeBatch: () => Promise<number>): Promise<void> {
    await yieldToEventLoop();
    while (!this.#isStopped && this.#leaderLease.isLeader && (await removeBatch()) > 0)
      await yieldToEventLoop();
  }
}
