const windowMs = 2000;
const maxWindowBytes = 32 * 1024 * 1024;

/** Limits media to 128 Mbit/s, since later buffers are bounded in seconds of media. */
export class BitrateLimit {
  #windowStartMs = 0;
  #windowBytes = 0;

  /** @param atMs on the broadcast's clock @returns true above the limit */
  isExceeded(atMs: number, bytes: number): boolean {
    if (atMs - this.#windowStartMs >= windowMs) {
      this.#windowStartMs = atMs;
      this.#windowBytes = 0;
    }
    this.#windowBytes += bytes;
    return this.#windowBytes > maxWindowBytes;
  }
}
