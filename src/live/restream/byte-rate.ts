const windowSeconds = 5;

export class ByteRate {
  readonly #counts: { readonly second: number; bytes: number }[] = [];

  add(bytes: number, nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    const last = this.#counts.at(-1);
    if (last?.second === second) last.bytes += bytes;
    else this.#counts.push({ second, bytes });
    if (this.#counts.length > windowSeconds + 1) this.#counts.shift();
  }

  /** Averages the last five complete seconds, or those since the first byte. @param nowMs monotonic */
  bitsPerSecond(nowMs: number): number {
    const now = Math.floor(nowMs / 1000);
    const complete = this.#counts.filter(({ second }) => second < now && second >= now - windowSeconds);
    const [first] = complete;
    if (first === undefined) return 0;
    const bytes = complete.reduce((sum, count) => sum + count.bytes, 0);
    return Math.round((bytes * 8) / (now - first.second));
  }
}
