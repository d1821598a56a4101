/** What to do about playback that broke. */
export type Remedy = 'recover-media' | 'reload';

/** A second fault this soon after a remedy means that the remedy did not help. */
const retryWindowMs = 10_000;

/** Chooses the mildest remedy that has not just failed. */
export class Recovery {
  #lastMediaRemedyAtMs = Number.NEGATIVE_INFINITY;

  /** For a decoder or buffer fault: rebuild the media buffers first, then the whole player. `nowMs` is monotonic. */
  afterMediaFault(nowMs: number): Remedy {
    const isRepeated = nowMs - this.#lastMediaRemedyAtMs < retryWindowMs;
    this.#lastMediaRemedyAtMs = nowMs;
    return isRepeated ? 'reload' : 'recover-media';
  }
}

/** What a stuck playhead calls for. */
export type StallVerdict = 'fine' | 'source-silent' | 'seek' | 'recover-media' | 'reload';

/** Seconds without movement after which each remedy is tried, in turn. */
const seekAfterSeconds = 6;
const recoverAfterSeconds = 10;
const reloadAfterSeconds = 15;

/** Watches a playhead once a second, and tells a player that is stuck from a broadcaster who sends nothing. */
export class StallDetector {
  #playhead = -1;
  #edge = -1;
  #stuckSeconds = 0;
  #silentSeconds = 0;

  /**
   * Called once a second while the viewer wants to see something.
   *
   * @param playhead position of the video, seconds
   * @param liveEdge grows with what the playlist offers, in any unit; stands still while the broadcaster sends nothing
   */
  tick(playhead: number, liveEdge: number): StallVerdict {
    this.#silentSeconds = liveEdge > this.#edge ? 0 : this.#silentSeconds + 1;
    this.#edge = liveEdge;
    if (playhead !== this.#playhead) {
      this.#playhead = playhead;
      this.#stuckSeconds = 0;
      return 'fine';
    }
    if (this.#silentSeconds >= 3) {
      // When media comes again, the player gets its full time to go on by itself.
      this.#stuckSeconds = 0;
      return 'source-silent';
    }
    this.#stuckSeconds += 1;
    if (this.#stuckSeconds >= reloadAfterSeconds) {
      this.#stuckSeconds = 0;
      return 'reload';
    }
    if (this.#stuckSeconds === recoverAfterSeconds) return 'recover-media';
    if (this.#stuckSeconds === seekAfterSeconds) return 'seek';
    return 'fine';
  }

  /** Forgets everything, for another source or after a pause. */
  reset(): void {
    this.#playhead = -1;
    this.#edge = -1;
    this.#stuckSeconds = 0;
    this.#silentSeconds = 0;
  }
}
