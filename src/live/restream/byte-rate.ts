/** Bytes of so many seconds are averaged. */
const seconds = 5;

/** How many bytes went by over the last seconds. */
export class ByteRate {
  /** By second, the newest last. */
  readonly #counts: { readonly second: number; bytes: number }[] = [];

  /** @param nowMs monotonic */
  add(bytes: number, nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    const last = this.#counts.at(-1);
    if (last?.second === second) last.bytes += bytes;
    else this.#counts.push({ second, bytes });
    if (this.#counts.length > seconds + 1) this.#counts.shift();
  }

  /** Bits a second of the last five whole seconds, or of those since the first byte; a whole number. @param nowMs monotonic */
  bitsPerSecond(nowMs: number): number {
    const now = Math.floor(nowMs / 1000);
    const whole = this.#counts.filter(({ second }) => second < now && second >= now - seconds);
    const [first] = whole;
    if (first === undefined) return 0;
    const bytes = whole.reduce((sum, count) => sum + count.bytes, 0);
    return Math.round((bytes * 8) / (now - first.second));
  }
}
