const windowMs = 8_000;
/** Before that, a speed would jump about. */
const leastMs = 800;

/** How fast something goes, by what was done in the last seconds. */
export class Pace {
  #marks: { readonly atMs: number; readonly bytes: number }[] = [];

  /** So much is done in all by now. */
  mark(atMs: number, bytes: number): void {
    const last = this.#marks.at(-1);
    // Something has to be done again: what was measured before says nothing of that.
    if (last !== undefined && bytes < last.bytes) this.#marks = [];
    this.#marks.push({ atMs, bytes });
    while (this.#marks.length > 2 && this.#marks[1]!.atMs <= atMs - windowMs) this.#marks.shift();
  }

  /** undefined until it can be told. */
  get bytesPerSecond(): number | undefined {
    const [first] = this.#marks;
    const last = this.#marks.at(-1);
    if (first === undefined || last === undefined || last.atMs - first.atMs < leastMs) return undefined;
    return ((last.bytes - first.bytes) * 1000) / (last.atMs - first.atMs);
  }
}
