const wideBytes = 256 * 1024;
const narrowBytes = 32 * 1024;
/** While no more than so many are in use, each is a wide one: 128 MiB. */
const mostWide = 512;
/** Free ones that are kept: 16 and 4 MiB. */
const mostKeptWide = 64;
const mostKeptNarrow = 128;

/** Buffers that files are read into. They are used again and again, so that sending leaves nothing to collect. */
export class ReadWindows {
  readonly #wide: Buffer[] = [];
  readonly #narrow: Buffer[] = [];
  #wideInUse = 0;

  /** A buffer of 256 KiB; of 32 KiB where very many are in use. Its owner gives it back, or drops it. */
  take(): Buffer {
    if (this.#wideInUse >= mostWide) return this.#narrow.pop() ?? Buffer.allocUnsafeSlow(narrowBytes);
    this.#wideInUse += 1;
    return this.#wide.pop() ?? Buffer.allocUnsafeSlow(wideBytes);
  }

  /** `isIdle`: nobody reads or writes the buffer any more, so that others may get it. */
  give(window: Buffer, isIdle: boolean): void {
    const isWide = window.length === wideBytes;
    if (isWide) this.#wideInUse -= 1;
    const [kept, most] = isWide ? [this.#wide, mostKeptWide] : [this.#narrow, mostKeptNarrow];
    if (isIdle && kept.length < most) kept.push(window);
  }
}
