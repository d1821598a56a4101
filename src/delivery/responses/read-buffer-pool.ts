const largeBytes = 256 * 1024;
const smallBytes = 32 * 1024;
/** Large buffers in use: up to 128 MiB; small ones beyond that. */
const maxLargeInUse = 512;
/** Keeps up to 16 and 4 MiB of free buffers. */
const maxFreeLarge = 64;
const maxFreeSmall = 128;

/** Reuses the buffers that files are read into, so that sending leaves no garbage. */
export class ReadBufferPool {
  readonly #freeLarge: Buffer[] = [];
  readonly #freeSmall: Buffer[] = [];
  #largeInUse = 0;

  /** Returns 256 KiB, or 32 KiB when many are in use. The caller releases or drops it. */
  take(): Buffer {
    if (this.#largeInUse >= maxLargeInUse) return this.#freeSmall.pop() ?? Buffer.allocUnsafeSlow(smallBytes);
    this.#largeInUse += 1;
    return this.#freeLarge.pop() ?? Buffer.allocUnsafeSlow(largeBytes);
  }

  release(window: Buffer, isIdle: boolean): void {
    const isWide = window.length === largeBytes;
    if (isWide) this.#largeInUse -= 1;
    const [kept, most] = isWide ? [this.#freeLarge, maxFreeLarge] : [this.#freeSmall, maxFreeSmall];
    if (isIdle && kept.length < most) kept.push(window);
  }

  clear(): void {
    this.#freeLarge.length = 0;
    this.#freeSmall.length = 0;
  }
}
