/** Lets only so many pieces of work run at once; the others begin in the order in which they came. */
export class ConcurrencyLimit {
  readonly #queue: (() => void)[] = [];
  #freeSlots: number;

  /** @param most how many run at once */
  constructor(most: number) {
    this.#freeSlots = most;
  }

  /** Pieces of work that wait for their turn. */
  get waitingCount(): number {
    return this.#queue.length;
  }

  /** Work that is asked for now has to wait. */
  get isBusy(): boolean {
    return this.#freeSlots === 0;
  }

  /** Runs `work` when it is its turn. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#freeSlots === 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#queue.push(resolve);
      await promise;
    } else this.#freeSlots -= 1;
    try {
      return await work();
    } finally {
      const next = this.#queue.shift();
      if (next === undefined) this.#freeSlots += 1;
      else next();
    }
  }
}
