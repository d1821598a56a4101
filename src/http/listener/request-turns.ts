import { ConnectionLimiter, type ConnectionLimiterOptions } from '../../shared/network/connection-limiter.ts';

const perTurn = 16;
const maxOpen = 4_000;

interface PendingRequest {
  /** True once the body has arrived. */
  readonly complete: boolean;
  destroy(): unknown;
}

interface OpenRequest {
  readonly request: PendingRequest;
  readonly closed: () => void;
}

/**
 * Serves requests that come in great numbers and can wait, such as the reports of players: a few in each turn of the event loop, so that
 * everything else gets its turn between them. Refuses those of a client network that keeps many open: on one connection of HTTP/2, and
 * with slow bodies, a single client could hold all places. While thousands are open, a request replaces the oldest one if its body has
 * not arrived, and is refused otherwise.
 */
export class RequestTurns {
  readonly #limiter: ConnectionLimiter;
  /** The oldest first. */
  readonly #open = new Set<OpenRequest>();
  #waiting: (() => void)[] = [];
  #servedThisTurn = 0;
  #next: NodeJS.Immediate | undefined;

  constructor(perAddress: ConnectionLimiterOptions) {
    this.#limiter = new ConnectionLimiter(perAddress);
  }

  /**
   * Serves a request now or soon; false when it must be refused. It is open until it was served, whether its client reads the response
   * or not.
   */
  take(request: PendingRequest, address: string, serve: () => unknown): boolean {
    const closed = this.#limiter.open(address);
    if (closed === undefined) return false;
    if (this.#open.size >= maxOpen && !this.#endOldest()) {
      closed();
      return false;
    }
    const open = { request, closed };
    this.#open.add(open);
    this.#next ??= setImmediate(() => this.#serveNext());
    if (this.#waiting.length > 0 || this.#servedThisTurn === perTurn)
      this.#waiting.push(() => void this.#serve(open, serve));
    else {
      this.#servedThisTurn += 1;
      void this.#serve(open, serve);
    }
    return true;
  }

  #endOldest(): boolean {
    const [oldest] = this.#open;
    if (oldest === undefined || oldest.request.complete) return false;
    this.#close(oldest);
    oldest.request.destroy();
    return true;
  }

  async #serve(open: OpenRequest, serve: () => unknown): Promise<void> {
    try {
      await serve();
    } finally {
      this.#close(open);
    }
  }

  #close(open: OpenRequest): void {
    if (this.#open.delete(open)) open.closed();
  }

  #serveNext(): void {
    const now = this.#waiting.splice(0, perTurn);
    this.#servedThisTurn = now.length;
    this.#next = now.length > 0 ? setImmediate(() => this.#serveNext()) : undefined;
    for (const serve of now) serve();
  }
}
