export class PlayRange {
  readonly startSeconds: number;
  readonly endSeconds: number | undefined;
  #lastSeconds = Number.POSITIVE_INFINITY;

  constructor(startSeconds: number, endSeconds: number | undefined) {
    this.startSeconds = startSeconds;
    this.endSeconds = endSeconds;
  }

  /** Notes a seek. Behind the end, playback continues; before it, the end is ahead again. */
  seeked(toSeconds: number): void {
    this.#lastSeconds = toSeconds;
  }

  /** Returns true once. */
  hasReachedEnd(nowSeconds: number): boolean {
    const { endSeconds } = this;
    if (endSeconds === undefined) return false;
    const hasReachedEnd = nowSeconds >= endSeconds && this.#lastSeconds < endSeconds;
    this.#lastSeconds = nowSeconds;
    return hasReachedEnd;
  }

  remainingSeconds(nowSeconds: number): number | undefined {
    const { endSeconds } = this;
    return endSeconds === undefined || nowSeconds >= endSeconds ? undefined : endSeconds - nowSeconds;
  }
}
