/** Most significant bit first. Bits past the end read as 0, so truncated input never throws. */
export class BitReader {
  readonly #bytes: Uint8Array;
  #bit = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Bits past the end were read, so the values are invalid. */
  get isExhausted(): boolean {
    return this.#bit > this.#bytes.length * 8;
  }

  /** `count` is 0..32. */
  bits(count: number): number {
    let value = 0;
    for (let left = count; left > 0; left--) {
      const byte = this.#bytes[this.#bit >> 3] ?? 0;
      value = value * 2 + ((byte >> (7 - (this.#bit & 7))) & 1);
      this.#bit += 1;
    }
    return value;
  }

  flag(): boolean {
    return this.bits(1) === 1;
  }

  skip(count: number): void {
    this.#bit += count;
  }

  /** ue(v). ITU-T H.264 (08/2021), 9.1. */
  expGolomb(): number {
    let zeros = 0;
    while (zeros < 32 && !this.isExhausted && !this.flag()) zeros += 1;
    return 2 ** zeros - 1 + this.bits(zeros);
  }

  /** se(v). ITU-T H.264 (08/2021), 9.1.1. */
  signedExpGolomb(): number {
    const code = this.expGolomb();
    return code % 2 === 1 ? (code + 1) / 2 : -code / 2;
  }
}
