const windowMs = 8_000;
const minMs = 800;

export class SpeedMeter {
  #samples: { readonly atMs: number; readonly bytes: number }[] = [];

  /** `bytes` is the total until now. */
  record(atMs: number, bytes: number): void {
    const last = this.#samples.at(-1);
    // Earlier samples do not count after a restart.
    if (last !== undefined && bytes < last.bytes) this.#samples = [];
    this.#samples.push({ atMs, bytes });
    while (this.#samples.length > 2 && this.#samples[1]!.atMs <= atMs - windowMs) this.#samples.shift();
  }

  get bytesPerSecond(): number | undefined {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined || last.atMs - first.atMs < minMs) return undefined;
    return ((last.bytes - first.bytes) * 1000) / (last.atMs - first.atMs);
  }
}
