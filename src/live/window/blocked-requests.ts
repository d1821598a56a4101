import type { ViewerSignal } from '../../shared/viewer-responses.ts';

interface BlockedRequest {
  readonly isReady: () => boolean;
  readonly resolve: () => void;
}

export class BlockedRequests {
  readonly #requests = new Set<BlockedRequest>();

  wake(all: boolean): void {
    for (const request of [...this.#requests]) {
      if (!all && !request.isReady()) continue;
      this.#requests.delete(request);
      request.resolve();
    }
  }

  async waitUntil(isReady: () => boolean, maxWaitMs: number, signal: ViewerSignal): Promise<boolean> {
    if (isReady()) return true;
    if (signal.aborted) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const request: BlockedRequest = { isReady, resolve: () => resolve(true) };
    const cancel = () => resolve(false);
    const timer = setTimeout(cancel, maxWaitMs);
    signal.addEventListener('abort', cancel);
    this.#requests.add(request);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      this.#requests.delete(request);
    }
  }
}
