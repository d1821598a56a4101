import type { Clock } from '../shared/clock.ts';

/** Times of a lease, in milliseconds. */
export interface LeaseTimes {
  readonly leaseMs: number;
  readonly renewEveryMs: number;
  /** A node that could not renew for this long drops its leader leases. Shorter than the lease: others take them after it. */
  readonly holdMs: number;
}

/** The times for a lease of this length: a renewal may fail without loss, and others take over a while after the node has stopped. */
export function leaseTimes(leaseMs: number): LeaseTimes {
  return { leaseMs, renewEveryMs: leaseMs / 3, holdMs: (leaseMs * 2) / 3 };
}

/** The lease of this node, by the monotonic clock of the process. */
export class NodeLease {
  readonly #times: LeaseTimes;
  readonly #clock: Clock;
  readonly #lapsed: () => void;
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  #storedUntilMs = Number.NEGATIVE_INFINITY;
  #heldSinceMs = 0;
  #lapseTimer: NodeJS.Timeout | undefined;

  /** @param lapsed called when the lease was not extended in time */
  constructor(times: LeaseTimes, clock: Clock, lapsed: () => void) {
    this.#times = times;
    this.#clock = clock;
    this.#lapsed = lapsed;
  }

  get isHeld(): boolean {
    return this.#clock.monotonicMs() < this.#heldUntilMs;
  }

  /** True while the database has the lease, which is for longer than the node relies on it. */
  get isStored(): boolean {
    return this.#clock.monotonicMs() < this.#storedUntilMs;
  }

  /** True when it has been held for as long as the lease of a former holder can last. */
  get isSettled(): boolean {
    return this.isHeld && this.#clock.monotonicMs() - this.#heldSinceMs >= this.#times.leaseMs;
  }

  /** @param sentAtMs monotonic time before the renewal was sent */
  extend(sentAtMs: number): void {
    if (!this.isHeld) this.#heldSinceMs = sentAtMs;
    this.#heldUntilMs = Math.max(this.#heldUntilMs, sentAtMs + this.#times.holdMs);
    this.#storedUntilMs = Math.max(this.#storedUntilMs, sentAtMs + this.#times.leaseMs);
    this.#watch();
  }

  drop(): void {
    this.#heldUntilMs = this.#storedUntilMs = Number.NEGATIVE_INFINITY;
  }

  stop(): void {
    clearTimeout(this.#lapseTimer);
  }

  #watch(): void {
    clearTimeout(this.#lapseTimer);
    const leftMs = this.#heldUntilMs - this.#clock.monotonicMs();
    this.#lapseTimer = setTimeout(
      () => {
        // Timers count from the begin of a turn of the event loop, and may be early.
        if (this.isHeld) this.#watch();
        else this.#lapsed();
      },
      Math.max(1, leftMs + 1),
    );
  }
}
