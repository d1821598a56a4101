import type { EventEmitter } from 'node:events';

const perTurn = 16;
const maxOpen = 4_000;

/**
 * Serves requests that come in great numbers and can wait, such as the reports of players: a few in each turn of the event loop, so that
 * everything else gets its turn between them. Refuses more while thousands are open.
 */
export class RequestTurns {
  #waiting: (() => void)[] = [];
  #open = 0;
  #servedThisTurn = 0;
  #next: NodeJS.Immediate | undefined;

  /** Serves a request now or soon; false when it must be refused. It is open until its response emits `close`. */
  take(response: EventEmitter, serve: () => void): boolean {
    if (this.#open >= maxOpen) return false;
    this.#open += 1;
    response.once('close', () => {
      this.#open -= 1;
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
