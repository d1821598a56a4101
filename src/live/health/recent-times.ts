const maxTimes = 16;

/** Counts what happens, and keeps the last times of it. */
export class RecentTimes {
  #total = 0;
  readonly #times: number[] = [];

  get total(): number {
    return this.#total;
  }

  add(nowMs: number): void {
    this.#total += 1;
    this.#times.push(nowMs);
    if (this.#times.length > maxTimes) this.#times.shift();
  }

  countWithin(ms: number, nowMs: number): number {
    return this.#times.filter(timeMs => nowMs - timeMs < ms).length;
  }
}
