import { connectionOf, type Exchange } from './exchange.ts';

export interface HeldRequest {
  readonly exchange: Exchange;
  readonly connection: object;
  readonly wait: { abort(): void };
}

/** A player holds two. As many as an HTTP/2 connection may open; bounds pipelining over HTTP/1.1. */
const maxPerConnection = 128;
const maxHeld = 50_000;

export class HeldRequests {
  readonly #refuse: (exchange: Exchange) => void;
  readonly #held = new Set<HeldRequest>();
  readonly #perConnection = new WeakMap<object, number>();

  /** @param refuse responds to a request when all requests are ended */
  constructor(refuse: (exchange: Exchange) => void) {
    this.#refuse = refuse;
  }

  /**
   * Aborts `wait` when the viewer leaves or all requests are ended.
   * @returns undefined when too many wait; otherwise {@link release} it before responding
   */
  add(exchange: Exchange, wait: { abort(): void }): HeldRequest | undefined {
    const connection = connectionOf(exchange);
    const count = this.#perConnection.get(connection) ?? 0;
    if (count >= maxPerConnection || this.#held.size >= maxHeld) return undefined;
    this.#perConnection.set(connection, count + 1);
    const held: HeldRequest = { exchange, connection, wait };
    this.#held.add(held);
    exchange.reply.once('close', () => {
      if (this.release(held)) wait.abort();
    });
    return held;
  }

  /** @returns false when nobody waits any more */
  release(held: HeldRequest): boolean {
    if (!this.#held.delete(held)) return false;
    this.#perConnection.set(held.connection, this.#perConnection.get(held.connection)! - 1);
    return true;
  }

  get size(): number {
    return this.#held.size;
  }

  end(): void {
    for (const held of this.#held) {
      this.#held.delete(held);
      held.wait.abort();
      this.#refuse(held.exchange);
    }
  }
}
