const initialUs = 100_000;
const initialVarianceUs = 50_000;

/** Smooths measurements as section 4.10 does. */
export class RoundTrip {
  #us = initialUs;
  #varianceUs = initialVarianceUs;
  isMeasured = false;

  get us(): number {
    return this.#us;
  }

  get varianceUs(): number {
    return this.#varianceUs;
  }

  /** Undefined until measured. */
  get measuredMs(): number | undefined {
    return this.isMeasured ? this.#us / 1_000 : undefined;
  }

  add(sampleUs: number): void {
    if (!this.isMeasured) {
      this.isMeasured = true;
      this.#us = Math.round(sampleUs);
      this.#varianceUs = Math.round(sampleUs / 2);
      return;
    }
    this.#varianceUs = Math.round((3 * this.#varianceUs + Math.abs(sampleUs - this.#us)) / 4);
    this.#us = Math.round((7 * this.#us + sampleUs) / 8);
  }
}
