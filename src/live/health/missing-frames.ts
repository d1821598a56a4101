/** A longer step is a reset of the publisher's clock. */
const maxStepMs = 3000;
/** RTMP rounds times to milliseconds. */
const roundingMs = 2;
/** Long steps in a row that are another frame rate, not losses. */
const minStepsOfNewRate = 5;

/** Counts frames that are missing between the timestamps of others. */
export class MissingFrames {
  #total = 0;
  #lastTimestampMs: number | undefined;
  #usualStepMs: number | undefined;
  #longSteps = 0;

  get total(): number {
    return this.#total;
  }

  /** Begins another connection. Keeps the total. */
  restart(): void {
    this.#lastTimestampMs = undefined;
    this.#usualStepMs = undefined;
    this.#longSteps = 0;
  }

  /** @param timestampMs as sent, 0..2^32-1 @returns frames missing before it */
  arrived(timestampMs: number): number {
    const last = this.#lastTimestampMs;
    this.#lastTimestampMs = timestampMs;
    if (last === undefined) return 0;
    // A signed 32-bit difference is right across the wrap at 2^32.
    const stepMs = (timestampMs - last) | 0;
    if (stepMs <= 0 || stepMs > maxStepMs) return 0;
    const usual = this.#usualStepMs;
    if (usual === undefined || stepMs <= 1.5 * usual + roundingMs) {
      this.#usualStepMs = usual === undefined ? stepMs : usual + (stepMs - usual) / 8;
      this.#longSteps = 0;
      return 0;
    }
    this.#longSteps += 1;
    if (this.#longSteps >= minStepsOfNewRate) {
      this.#usualStepMs = stepMs;
      this.#longSteps = 0;
      return 0;
    }
    const missing = Math.round(stepMs / usual) - 1;
    this.#total += missing;
    return missing;
  }
}
