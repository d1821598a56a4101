/** Packagers put frames on the grid of their rate. */
const maxSnapMs = 3.5;
/** A frame that is shown for longer is one that arrives all the time. */
const maxFrameMs = 1000;
/** A power of two. */
const maxEntries = 256;

/** Allocates nothing per frame. */
export class ArrivalLog {
  readonly #atMs = new Float64Array(maxEntries);
  readonly #arrivedMs = new Float64Array(maxEntries);
  /** Count of all entries, of which the newest are kept. */
  #count = 0;

  /** @param arrivedMs monotonic */
  add(atMs: number, arrivedMs: number): void {
    this.#atMs[this.#count % maxEntries] = atMs;
    this.#arrivedMs[this.#count % maxEntries] = arrivedMs;
    this.#count += 1;
  }

  /**
   * Monotonic time at which the frame of `atMs`, or the last one before it, arrived; for older frames, of the oldest
   * kept. What a frame shows long after its time arrives as much later.
   */
  arrivalOf(atMs: number): number | undefined {
    const first = Math.max(0, this.#count - maxEntries);
    let index = this.#count - 1;
    while (index >= first && this.#atOf(index) > atMs + maxSnapMs) index -= 1;
    while (
      index > first &&
      this.#atOf(index) > atMs &&
      atMs - this.#atOf(index - 1) < this.#atOf(index) - atMs
    )
      index -= 1;
    if (index < first && first === 0) return undefined;
    const kept = Math.max(index, first);
    const shownMs = atMs - this.#atOf(kept);
    return this.#arrivedMs[kept % maxEntries]! + (shownMs > maxFrameMs ? shownMs : 0);
  }

  /** Monotonic time before which media of `atMs` was recorded, as what follows it has arrived. Infinity without any. */
  recordedBy(atMs: number): number {
    const first = Math.max(0, this.#count - maxEntries);
    let recordedMs = Number.POSITIVE_INFINITY;
    for (let index = this.#count - 1; index >= first && this.#atOf(index) >= atMs - maxSnapMs; index -= 1) {
      const laterMs = Math.max(0, this.#atOf(index) - atMs);
      recordedMs = Math.min(recordedMs, this.#arrivedMs[index % maxEntries]! - laterMs);
    }
    return recordedMs;
  }

  /** True when the next frame is seconds after that of `atMs`, which may have waited for it. */
  isSlowAt(atMs: number): boolean {
    const first = Math.max(0, this.#count - maxEntries);
    let nextMs = atMs;
    for (let index = this.#count - 1; index >= first && this.#atOf(index) > atMs + maxSnapMs; index -= 1) {
      nextMs = this.#atOf(index);
    }
    return nextMs - atMs > maxFrameMs;
  }

  #atOf(index: number): number {
    return this.#atMs[index % maxEntries]!;
  }
}
