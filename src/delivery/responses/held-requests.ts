import { connectionOf, type Exchange } from './exchange.ts';

interface HeldRequest {
  readonly abort: AbortController;
  readonly refuse: () => void;
}

/** A player holds two. As many as an HTTP/2 connection may have open; without it, pipelining over HTTP/1.1 knows no end. */
const maxPerConnection = 128;
/** Some kilobytes each. */
const maxHeld = 50_000;

/** Requests whose answer is not there yet. */
export class HeldRequests {
  readonly #held = new Set<HeldRequest>();
  /** How many, by connection. */
  readonly #perConnection = new WeakMap<object, number>();

  /**
   * Notes a request that waits. When its viewer leaves, or all are ended, `abort` fires; `refuse` answers in the latter case.
   *
   * @returns a function to call before answering; false means that nobody waits any more. Undefined where too many wait already.
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

  /** Ends all: each is answered by its `refuse`. */
  end(): void {
    for (const held of this.#held) {
      this.#held.delete(held);
      held.abort.abort();
      held.refuse();
    }
  }
}
