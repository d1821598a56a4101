import { connectionOf, type Exchange } from './exchange.ts';
import type { ViewerAbort } from './viewer-abort.ts';

interface HeldRequest {
  readonly abort: ViewerAbort;
  readonly refuse: () => void;
}

/** A player holds two. As many as an HTTP/2 connection may open; bounds pipelining over HTTP/1.1. */
const maxPerConnection = 128;
const maxHeld = 50_000;

export class HeldRequests {
  readonly #held = new Set<HeldRequest>();
  readonly #perConnection = new WeakMap<object, number>();

  /**
   * `abort` fires when the viewer leaves or all requests are ended; then `refuse` responds.
   * @returns a function to call before responding, false when nobody waits any more; undefined when too many
   * wait
   */
  add(exchange: Exchange, abort: ViewerAbort, refuse: () => void): (() => boolean) | undefined {
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

  end(): void {
    for (const held of this.#held) {
      this.#held.delete(held);
      held.abort.abort();
      held.refuse();
    }
  }
}
