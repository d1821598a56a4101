const windowMs = 8_000;
/** Before that, a speed would jump about. */
const minMs = 800;

/** How fast something goes, by what was done in the last seconds. */
export class SpeedMeter {
  #samples: { readonly atMs: number; readonly bytes: number }[] = [];

  /** So much is done in all by now. */
  record(atMs: number, bytes: number): void {
    const last = this.#samples.at(-1);
    // Something has to be done again: what was measured before says nothing of that.
    if (last !== undefined && bytes < last.bytes) this.#samples = [];
    this.#samples.push({ atMs, bytes });
    while (this.#samples.length > 2 && this.#samples[1]!.atMs <= atMs - windowMs) this.#samples.shift();
  }

  /** undefined until it can be told. */
  get bytesPerSecond(): number | undefined {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined || last.atMs - first.atMs < minMs) return undefined;
    return ((last.bytes - first.bytes) * 1000) / (last.atMs - first.atMs);
  }
}
