/** Reads bits, most significant first. Bits past the end read as 0, so truncated input never throws. */
export class BitReader {
  readonly #bytes: Uint8Array;
  #bit = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** True when more bits were read than there are; the values read are then invalid. */
  get isExhausted(): boolean {
    return this.#bit > this.#bytes.length * 8;
  }

  /** Reads an unsigned number of `count` bits, 0..32. */
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

  /** Reads an unsigned Exp-Golomb number, ue(v). **Source**: ITU-T H.264 (08/2021), 9.1. */
  expGolomb(): number {
    let zeros = 0;
    while (zeros < 32 && !this.isExhausted && !this.flag()) zeros += 1;
    return 2 ** zeros - 1 + this.bits(zeros);
  }

  /** Reads a signed Exp-Golomb number, se(v). **Source**: ITU-T H.264 (08/2021), 9.1.1. */
  signedExpGolomb(): number {
    const code = this.expGolomb();
    return code % 2 === 1 ? (code + 1) / 2 : -code / 2;
  }
}
