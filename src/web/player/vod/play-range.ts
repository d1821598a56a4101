/** The stretch of a video that is to be played. Times in seconds. */
export class PlayRange {
  readonly startSeconds: number;
  /** Undefined: the end of the video. */
  readonly endSeconds: number | undefined;
  #lastSeconds = Number.POSITIVE_INFINITY;

  constructor(startSeconds: number, endSeconds: number | undefined) {
    this.startSeconds = startSeconds;
    this.endSeconds = endSeconds;
  }

  /** Hears of a jump: whoever jumps behind the end plays on from there, and whoever jumps before it has it ahead. */
  seeked(toSeconds: number): void {
    this.#lastSeconds = toSeconds;
  }

  /** Whether playing has reached the end since it was last asked. */
  hasReachedEnd(nowSeconds: number): boolean {
    const { endSeconds } = this;
    if (endSeconds === undefined) return false;
    const hasReachedEnd = nowSeconds >= endSeconds && this.#lastSeconds < endSeconds;
    this.#lastSeconds = nowSeconds;
    return hasReachedEnd;
  }

  /** Seconds of playing at normal speed until the end; undefined when it is not ahead. */
  remainingSeconds(nowSeconds: number): number | undefined {
    const { endSeconds } = this;
    return endSeconds === undefined || nowSeconds >= endSeconds ? undefined : endSeconds - nowSeconds;
  }
}
