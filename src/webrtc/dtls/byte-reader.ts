/** Reads the vectors of TLS. Throws a `RangeError` past the end. RFC 5246, 4.3. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  /** @param width in bytes, 1..4 */
  uint(width: number): number {
    const value = this.#bytes.readUIntBE(this.#at, width);
    this.#at += width;
    return value;
  }

  bytes(count: number): Buffer {
    if (count > this.left) throw new RangeError('the message is too short');
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  /** @param width bytes of the length before it */
  vector(width: number): Buffer {
    return this.bytes(this.uint(width));
  }

  /** The elements of a vector of numbers of two bytes. */
  list(): number[] {
    const reader = new ByteReader(this.vector(2));
    const values: number[] = [];
    while (reader.left > 0) values.push(reader.uint(2));
    return values;
  }
}

/** @param width bytes of the length before it */
export function vector(width: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([uint(width, content.length), content]);
}

export function uint(width: number, value: number): Buffer {
  const bytes = Buffer.alloc(width);
  bytes.writeUIntBE(value, 0, width);
  return bytes;
}
