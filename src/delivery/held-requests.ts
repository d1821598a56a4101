import { connectionOf, type Exchange } from './viewer-reply.ts';

interface Held {
  readonly abort: AbortController;
  readonly refuse: () => void;
}

/** A player holds two. As many as an HTTP/2 connection may have open; without it, pipelining over HTTP/1.1 knows no end. */
const mostPerConnection = 128;
/** Some kilobytes each. */
const mostHeld = 50_000;

/** Requests whose answer is not there yet. */
export class HeldRequests {
  readonly #held = new Set<Held>();
  /** How many, by connection. */
  readonly #counts = new WeakMap<object, number>();

  /**
   * Notes a request that waits. When its viewer leaves, or all are ended, `abort` fires; `refuse` answers in the latter case.
   *
   * @returns a function to call before answering; false means that nobody waits any more. Undefined where too many wait already.
   */
  add(exchange: Exchange, abort: AbortController, refuse: () => void): (() => boolean) | undefined {
    const connection = connectionOf(exchange);
    const count = this.#counts.get(connection) ?? 0;
    if (count >= mostPerConnection || this.#held.size >= mostHeld) return undefined;
    this.#counts.set(connection, count + 1);
    const held: Held = { abort, refuse };
    this.#held.add(held);
    const release = () => {
      if (!this.#held.delete(held)) return false;
      this.#counts.set(connection, this.#counts.get(connection)! - 1);
      return true;
    };
    exchange.reply.once('close', () => {
      if (release()) abort.abort();
    });
    return release;
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
