/** Runs one job at a time. Keys take turns, so that the jobs of one wait for at most one of each other. */
export class FairQueue {
  readonly #waiting = new Map<string, (() => void)[]>();
  #isRunning = false;

  waitingCountOf(key: string): number {
    return this.#waiting.get(key)?.length ?? 0;
  }

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#isRunning) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), resolve]);
      await promise;
    }
    this.#isRunning = true;
    try {
      return await work();
    } finally {
      this.#startNext();
    }
  }

  #startNext(): void {
    const [found] = this.#waiting;
    this.#isRunning = found !== undefined;
    if (found === undefined) return;
    const [key, [next, ...others]] = found;
    this.#waiting.delete(key);
    if (others.length > 0) this.#waiting.set(key, others);
    next!();
  }
}
