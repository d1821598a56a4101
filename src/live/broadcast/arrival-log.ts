export class ArrivalLog {
  readonly #entries: { readonly atMs: number; readonly arrivedMs: number }[] = [];

  /** @param arrivedMs monotonic */
  add(atMs: number, arrivedMs: number): void {
    this.#entries.push({ atMs, arrivedMs });
    if (this.#entries.length > 256) this.#entries.shift();
  }

  /** Monotonic time at which the frame of `atMs`, or the last one before it, arrived. */
  arrivalOf(atMs: number): number | undefined {
    return this.#entries.findLast(entry => entry.atMs <= atMs + 0.5)?.arrivedMs;
  }
}
