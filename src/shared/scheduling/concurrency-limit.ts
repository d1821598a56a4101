export class ConcurrencyLimit {
  readonly #queue: (() => void)[] = [];
  #freeSlots: number;

  constructor(maxRunning: number) {
    this.#freeSlots = maxRunning;
  }

  get waitingCount(): number {
    return this.#queue.length;
  }

  get isBusy(): boolean {
    return this.#freeSlots === 0;
  }

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
