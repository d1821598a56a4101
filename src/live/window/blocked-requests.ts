interface BlockedRequest {
  readonly isReady: () => boolean;
  readonly resolve: () => void;
}

/** Those who wait for something to change. */
export class BlockedRequests {
  readonly #requests = new Set<BlockedRequest>();

  /** Something has changed: answers those who have what they waited for, or all. */
  wake(all: boolean): void {
    for (const waiter of [...this.#requests]) {
      if (!all && !waiter.isReady()) continue;
      this.#requests.delete(waiter);
      waiter.resolve();
    }
  }

  /** Waits until it is ready. False when it was not within `limitMs`, or nobody waits any more. */
  async waitUntil(isReady: () => boolean, limitMs: number, signal: AbortSignal): Promise<boolean> {
    if (isReady()) return true;
    if (signal.aborted) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter: BlockedRequest = { isReady, resolve: () => resolve(true) };
    const giveUp = () => resolve(false);
    const timer = setTimeout(giveUp, limitMs);
    signal.addEventListener('abort', giveUp, { once: true });
    this.#requests.add(waiter);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      this.#requests.delete(waiter);
    }
  }
}
