/** Accepts each number of a packet once, and none older than the window. RFC 6347, 4.1.2.6; RFC 3711, 3.3.2. */
export class ReplayWindow {
  readonly #seen: Uint8Array;
  #newest = -1;

  /** @param size in packets */
  constructor(size: number) {
    this.#seen = new Uint8Array(size);
  }

  isFresh(number: number): boolean {
    if (number > this.#newest) return true;
    const { length } = this.#seen;
    return number > this.#newest - length && this.#seen[number % length] === 0;
  }

  /** Adds a number; call it only after the packet was authenticated. */
  add(number: number): void {
    const { length } = this.#seen;
    if (number > this.#newest) {
      if (number - this.#newest >= length) this.#seen.fill(0);
      else for (let each = this.#newest + 1; each < number; each++) this.#seen[each % length] = 0;
      this.#newest = number;
    }
    this.#seen[number % length] = 1;
  }
}
