/** Packagers put frames on the grid of their rate. */
const maxSnapMs = 3.5;

export class ArrivalLog {
  readonly #entries: { readonly atMs: number; readonly arrivedMs: number }[] = [];

  /** @param arrivedMs monotonic */
  add(atMs: number, arrivedMs: number): void {
    this.#entries.push({ atMs, arrivedMs });
    if (this.#entries.length > 256) this.#entries.shift();
  }

  /** Monotonic time at which the frame of `atMs`, or the last one before it, arrived. */
  arrivalOf(atMs: number): number | undefined {
    const entries = this.#entries;
    let index = entries.length - 1;
    while (index >= 0 && entries[index]!.atMs > atMs + maxSnapMs) index -= 1;
    while (
      index > 0 &&
      entries[index]!.atMs > atMs &&
      atMs - entries[index - 1]!.atMs < entries[index]!.atMs - atMs
    )
      index -= 1;
    return entries[index]?.arrivedMs;
  }
}
