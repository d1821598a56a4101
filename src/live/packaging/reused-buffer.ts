const growthBytes = 32 * 1024;

/**
 * Memory for the data of an open part. Messages of the network are garbage as soon as they are copied: what lives as long as a
 * part would outlive the cheap collection of young objects.
 */
export class ReusedBuffer {
  #bytes = Buffer.alloc(0);
  #length = 0;

  /** Returns a copy that is valid until the next {@link clear}. */
  copy(data: Buffer): Buffer {
    if (this.#length + data.length > this.#bytes.length) this.#replace(data.length);
    const from = this.#length;
    this.#bytes.set(data, from);
    this.#length += data.length;
    return this.#bytes.subarray(from, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  /** Earlier copies keep the former memory. */
  #replace(missingBytes: number): void {
    const wanted = this.#length + missingBytes;
    this.#bytes = Buffer.allocUnsafeSlow(Math.ceil((wanted * 1.25) / growthBytes) * growthBytes);
    this.#length = 0;
  }
}
