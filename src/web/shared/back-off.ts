export class BackOff {
  readonly #initialMs: number;
  readonly #maxMs: number;
  #nextMs: number;

  constructor(initialMs: number, maxMs: number) {
    this.#initialMs = initialMs;
    this.#maxMs = maxMs;
    this.#nextMs = initialMs;
  }

  /** Subtracts up to a quarter, so that clients do not return together. */
  next(random: () => number = Math.random): number {
    const waitMs = this.#nextMs;
    this.#nextMs = Math.min(this.#maxMs, this.#nextMs * 2);
    return waitMs * (1 - random() / 4);
  }

  reset(): void {
    this.#nextMs = this.#initialMs;
  }
}
