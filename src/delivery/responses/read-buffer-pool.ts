const largeBytes = 256 * 1024;
const smallBytes = 32 * 1024;
/** While no more than so many are in use, each is a wide one: 128 MiB. */
const maxLargeInUse = 512;
/** Free ones that are kept: 16 and 4 MiB. */
const maxFreeLarge = 64;
const maxFreeSmall = 128;

/** Buffers that files are read into. They are used again and again, so that sending leaves nothing to collect. */
export class ReadBufferPool {
  readonly #freeLarge: Buffer[] = [];
  readonly #freeSmall: Buffer[] = [];
  #largeInUse = 0;

  /** A buffer of 256 KiB; of 32 KiB where very many are in use. Its owner gives it back, or drops it. */
  take(): Buffer {
    if (this.#largeInUse >= maxLargeInUse) return this.#freeSmall.pop() ?? Buffer.allocUnsafeSlow(smallBytes);
    this.#largeInUse += 1;
    return this.#freeLarge.pop() ?? Buffer.allocUnsafeSlow(largeBytes);
  }

  /** `isIdle`: nobody reads or writes the buffer any more, so that others may get it. */
  release(window: Buffer, isIdle: boolean): void {
    const isWide = window.length === largeBytes;
    if (isWide) this.#largeInUse -= 1;
    const [kept, most] = isWide ? [this.#freeLarge, maxFreeLarge] : [this.#freeSmall, maxFreeSmall];
    if (isIdle && kept.length < most) kept.push(window);
  }
}
