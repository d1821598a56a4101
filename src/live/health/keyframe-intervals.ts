/** Measures the time between keyframes on the broadcast's clock. */
export class KeyframeIntervals {
  #lastFrameAtMs = 0;
  #lastKeyframeAtMs: number | undefined;
  #newestMs: number | undefined;
  #maxMs: number | undefined;

  /** Undefined before the second keyframe. */
  get newestMs(): number | undefined {
    return this.#newestMs;
  }

  get maxMs(): number | undefined {
    return this.#maxMs;
  }

  /** The last interval, or the time from the last keyframe to the newest frame if that is more. */
  get distanceMs(): number | undefined {
    if (this.#lastKeyframeAtMs === undefined) return undefined;
    return Math.max(this.#newestMs ?? 0, this.#lastFrameAtMs - this.#lastKeyframeAtMs);
  }

  /** Begins another connection. Keeps the intervals. */
  restart(): void {
    this.#lastKeyframeAtMs = undefined;
  }

  frame(atMs: number, isKeyframe: boolean): void {
    this.#lastFrameAtMs = atMs;
    if (!isKeyframe) return;
    if (this.#lastKeyframeAtMs !== undefined) {
      this.#newestMs = atMs - this.#lastKeyframeAtMs;
      this.#maxMs = Math.max(this.#maxMs ?? 0, this.#newestMs);
    }
    this.#lastKeyframeAtMs = atMs;
  }
}
