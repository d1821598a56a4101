/** The stretch of a video that is to be played. Times in seconds. */
export class PlayRange {
  readonly startSeconds: number;
  /** Undefined: the end of the video. */
  readonly endSeconds: number | undefined;
  #last = Number.POSITIVE_INFINITY;

  constructor(startSeconds: number, endSeconds: number | undefined) {
    this.startSeconds = startSeconds;
    this.endSeconds = endSeconds;
  }

  /** Hears of a jump: whoever jumps behind the end plays on from there, and whoever jumps before it has it ahead. */
  jumped(toSeconds: number): void {
    this.#last = toSeconds;
  }

  /** Whether playing has reached the end since it was last asked. */
  isOver(nowSeconds: number): boolean {
    const { endSeconds } = this;
    if (endSeconds === undefined) return false;
    const isOver = nowSeconds >= endSeconds && this.#last < endSeconds;
    this.#last = nowSeconds;
    return isOver;
  }

  /** Seconds of playing at normal speed until the end; undefined when it is not ahead. */
  leftSeconds(nowSeconds: number): number | undefined {
    const { endSeconds } = this;
    return endSeconds === undefined || nowSeconds >= endSeconds ? undefined : endSeconds - nowSeconds;
  }
}
