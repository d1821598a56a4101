import type { EventEmitter } from 'node:events';
import { ConnectionLimiter, type ConnectionLimiterOptions } from '../../shared/network/connection-limiter.ts';

const perTurn = 16;
const maxOpen = 4_000;

/**
 * Serves requests that come in great numbers and can wait, such as the reports of players: a few in each turn of the event loop, so that
 * everything else gets its turn between them. Refuses more while thousands are open, and those of a client network that keeps many open: on
 * one connection of HTTP/2, and with slow bodies, a single client could hold all places.
 */
export class RequestTurns {
  readonly #limiter: ConnectionLimiter;
  #waiting: (() => void)[] = [];
  #open = 0;
  #servedThisTurn = 0;
  #next: NodeJS.Immediate | undefined;

  constructor(perAddress: ConnectionLimiterOptions) {
    this.#limiter = new ConnectionLimiter(perAddress);
  }

  /** Serves a request now or soon; false when it must be refused. It is open until its response emits `close`. */
  take(response: EventEmitter, address: string, serve: () => void): boolean {
    const closed = this.#open >= maxOpen ? undefined : this.#limiter.open(address);
    if (closed === undefined) return false;
    this.#open += 1;
    response.once('close', () => {
      this.#open -= 1;
      closed();
    });
    this.#next ??= setImmediate(() => this.#serveNext());
    if (this.#waiting.length > 0 || this.#servedThisTurn === perTurn) this.#waiting.push(serve);
    else {
      this.#servedThisTurn += 1;
      serve();
    }
    return true;
  }

  #serveNext(): void {
    const now = this.#waiting.splice(0, perTurn);
    this.#servedThisTurn = now.length;
    this.#next = now.length > 0 ? setImmediate(() => this.#serveNext()) : undefined;
    for (const serve of now) serve();
  }
}
