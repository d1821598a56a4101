import type { ViewerReply } from './viewer-reply.ts';

interface Held {
  readonly abort: AbortController;
  readonly refuse: () => void;
}

/** Requests whose answer is not there yet. */
export class HeldRequests {
  readonly #held = new Set<Held>();

  /**
   * Notes a request that waits. When its viewer leaves, or all are ended, `abort` fires; `refuse` answers in the latter case.
   *
   * @returns a function to call before answering; false means that nobody waits any more.
   */
  add(reply: ViewerReply, abort: AbortController, refuse: () => void): () => boolean {
    const held: Held = { abort, refuse };
    this.#held.add(held);
    reply.once('close', () => {
      if (this.#held.delete(held)) abort.abort();
    });
    return () => this.#held.delete(held);
  }

  /** Ends all: each is answered by its `refuse`. */
  end(): void {
    for (const held of this.#held) {
      this.#held.delete(held);
      held.abort.abort();
      held.refuse();
    }
  }
}
