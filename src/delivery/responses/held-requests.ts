import { connectionOf, type Exchange } from './exchange.ts';

interface HeldRequest {
  readonly abort: AbortController;
  readonly refuse: () => void;
}

/** A player holds two. As many as an HTTP/2 connection may open; bounds pipelining over HTTP/1.1. */
const maxPerConnection = 128;
/** Each costs a few kilobytes. */
const maxHeld = 50_000;

/** Requests that wait for their response. */
export class HeldRequests {
  readonly #held = new Set<HeldRequest>();
  /** Held requests by connection. */
  readonly #perConnection = new WeakMap<object, number>();

  /**
   * Holds a request. `abort` fires when its viewer leaves or all are ended; then `refuse` responds.
   *
   * @returns a function to call before responding, which returns false when nobody waits any more; undefined when too many wait already
   */
  add(exchange: Exchange, abort: AbortController, refuse: () => void): (() => boolean) | undefined {
    const connection = connectionOf(exchange);
    const count = this.#perConnection.get(connection) ?? 0;
    if (count >= maxPerConnection || this.#held.size >= maxHeld) return undefined;
    this.#perConnection.set(connection, count + 1);
    const held: HeldRequest = { abort, refuse };
    this.#held.add(held);
    const release = () => {
      if (!this.#held.delete(held)) return false;
      this.#perConnection.set(connection, this.#perConnection.get(connection)! - 1);
      return true;
    };
    exchange.reply.once('close', () => {
      if (release()) abort.abort();
    });
    return release;
  }

  /** Ends all requests with their `refuse`. */
  end(): void {
    for (const held of this.#held) {
      this.#held.delete(held);
      held.abort.abort();
      held.refuse();
    }
  }
}
