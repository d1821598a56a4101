interface Waiter {
  readonly isReady: () => boolean;
  readonly resolve: () => void;
}

/** Those who wait for something to change. */
export class ChangeWaiters {
  readonly #waiters = new Set<Waiter>();

  /** Something has changed: answers those who have what they waited for, or all. */
  wake(all: boolean): void {
    for (const waiter of [...this.#waiters]) {
      if (!all && !waiter.isReady()) continue;
      this.#waiters.delete(waiter);
      waiter.resolve();
    }
  }

  /** Waits until it is ready. False when it was not within `limitMs`, or nobody waits any more. */
  async wait(isReady: () => boolean, limitMs: number, signal: AbortSignal): Promise<boolean> {
    if (isReady()) return true;
    if (signal.aborted) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter: Waiter = { isReady, resolve: () => resolve(true) };
    const giveUp = () => resolve(false);
    const timer = setTimeout(giveUp, limitMs);
    signal.addEventListener('abort', giveUp, { once: true });
    this.#waiters.add(waiter);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      this.#waiters.delete(waiter);
    }
  }
}
