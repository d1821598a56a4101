import type { HeldRequest } from './held-requests.ts';
import type { ViewerAbort } from './viewer-abort.ts';

/** Waits are bounded: a request that comes later than this waits anew. */
const maxJoinMs = 1000;

interface WaitingViewer<Answer> {
  readonly held: HeldRequest;
  readonly send: (answer: Answer) => Promise<void> | void;
}

/** Requests of many viewers for one thing: five hundred promises and timers cost more than sending it to them. */
export class SharedWait<Answer> {
  readonly #viewersGone: ViewerAbort;
  readonly #startedAtMs = performance.now();
  readonly viewers: WaitingViewer<Answer>[] = [];
  #gone = 0;
  isSettled = false;

  /** @param viewersGone aborted when all viewers have left */
  constructor(viewersGone: ViewerAbort) {
    this.#viewersGone = viewersGone;
  }

  get isOpen(): boolean {
    return !this.isSettled && !this.#viewersGone.aborted && performance.now() - this.#startedAtMs < maxJoinMs;
  }

  /** A viewer has left. */
  abort(): void {
    this.#gone += 1;
    if (this.#gone === this.viewers.length) this.#viewersGone.abort();
  }
}
