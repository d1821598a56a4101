/** An ended playlist that is stuck this long is over. */
const endAfterSeconds = 2;

/** Detects the end of a playlist that ends with gaps, which the video element never reaches. */
export class EndDetector {
  #position = -1;
  #stuckSeconds = 0;

  reset(): void {
    this.#stuckSeconds = 0;
  }

  /** Call once a second after the playlist has ended. @returns true at the end */
  tick({ currentTime, readyState }: HTMLVideoElement): boolean {
    const isStuck = currentTime === this.#position && readyState < HTMLMediaElement.HAVE_FUTURE_DATA;
    this.#position = currentTime;
    this.#stuckSeconds = isStuck ? this.#stuckSeconds + 1 : 0;
    return this.#stuckSeconds >= endAfterSeconds;
  }
}
