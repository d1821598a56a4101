const START_CODE = Buffer.from([0, 0, 1]);

/**
 * Finds the NAL units of a byte stream while it grows. Reads each byte once: long runs of zeros take milliseconds.
 * ITU-T H.264 (08/2021), annex B.
 */
export class UnitScanner {
  readonly #maxUnits: number;
  #starts: number[] = [];
  /** Ends of units, without the zeros behind them. The last unit has none yet. */
  #ends: number[] = [];
  #scannedBytes = 0;
  /** Offset behind the last scanned byte that is not 0. */
  #lastEnd = 0;

  /** @param maxUnits ignores those that follow */
  constructor(maxUnits: number) {
    this.#maxUnits = maxUnits;
  }

  get scannedBytes(): number {
    return this.#scannedBytes;
  }

  /** @param bytes those that were scanned before, and more */
  scan(bytes: Buffer): void {
    const from = Math.max(this.#starts.at(-1) ?? 0, this.#scannedBytes - START_CODE.length + 1);
    for (
      let at = bytes.indexOf(START_CODE, from);
      at !== -1 && this.#starts.length <= this.#maxUnits;
      at = bytes.indexOf(START_CODE, at + START_CODE.length)
    ) {
      if (this.#starts.length > 0) this.#ends.push(this.#endBefore(bytes, at));
      this.#starts.push(at + START_CODE.length);
    }
    this.#lastEnd = this.#endBefore(bytes, bytes.length);
    this.#scannedBytes = bytes.length;
  }

  /** @param bytes those that were scanned */
  units(bytes: Buffer): Buffer[] {
    const units: Buffer[] = [];
    this.#starts.slice(0, this.#maxUnits).forEach((start, index) => {
      const end = this.#ends[index] ?? this.#lastEnd;
      if (end > start) units.push(bytes.subarray(start, end));
    });
    return units;
  }

  /** Skips the first bytes, which are gone. */
  skip(bytes: number): void {
    const gone = this.#starts.filter(start => start - START_CODE.length < bytes).length;
    this.#starts = this.#starts.slice(gone).map(start => start - bytes);
    this.#ends = this.#ends.slice(gone).map(end => end - bytes);
    this.#scannedBytes -= bytes;
    this.#lastEnd = Math.max(0, this.#lastEnd - bytes);
  }

  reset(): void {
    this.#starts = [];
    this.#ends = [];
    this.#scannedBytes = 0;
    this.#lastEnd = 0;
  }

  #endBefore(bytes: Buffer, limit: number): number {
    let end = limit;
    while (end > this.#scannedBytes && bytes[end - 1] === 0) end -= 1;
    return end > this.#scannedBytes ? end : Math.min(this.#lastEnd, limit);
  }
}
