/** Lets only so many pieces of work run at once; the others begin in the order in which they came. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  /** @param most how many run at once */
  constructor(most: number) {
    this.#free = most;
  }

  /** Pieces of work that wait for their turn. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Work that is asked for now has to wait. */
  get isBusy(): boolean {
    return this.#free === 0;
  }

  /** Runs `work` when it is its turn. */
  async take<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free === 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      await promise;
    } else this.#free -= 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
