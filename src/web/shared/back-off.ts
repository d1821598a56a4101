/** Waiting times that double from a first one up to a longest one. */
export class BackOff {
  readonly #initialMs: number;
  readonly #maxMs: number;
  #nextMs: number;

  constructor(initialMs: number, maxMs: number) {
    this.#initialMs = initialMs;
    this.#maxMs = maxMs;
    this.#nextMs = initialMs;
  }

  /** The next waiting time, up to a quarter shorter than its turn: clients that failed together come back apart. */
  next(random: () => number = Math.random): number {
    const waitMs = this.#nextMs;
    this.#nextMs = Math.min(this.#maxMs, this.#nextMs * 2);
    return waitMs * (1 - random() / 4);
  }

  /** Begins again with the first waiting time. */
  reset(): void {
    this.#nextMs = this.#initialMs;
  }
}
