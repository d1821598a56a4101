type Remedy = 'recover-media' | 'reload';

/** A second fault within this time means that the remedy failed. */
const retryWindowMs = 10_000;

export class Recovery {
  #lastMediaRemedyAtMs = Number.NEGATIVE_INFINITY;

  /** Rebuilds the media buffers first, then the whole player. */
  afterMediaFault(nowMs: number): Remedy {
    const isRepeated = nowMs - this.#lastMediaRemedyAtMs < retryWindowMs;
    this.#lastMediaRemedyAtMs = nowMs;
    return isRepeated ? 'reload' : 'recover-media';
  }
}

type StallVerdict = 'fine' | 'source-silent' | 'seek' | 'recover-media' | 'reload';

/** Remedies against a stall: each is tried in turn after this long without progress. */
const seekAfterSeconds = 6;
const recoverAfterSeconds = 10;
const reloadAfterSeconds = 15;

/** Distinguishes a stuck player from a publisher who sends nothing. */
export class StallDetector {
  #playhead = -1;
  #edge = -1;
  #stuckSeconds = 0;
  #silentSeconds = 0;

  /** Called once a second while the viewer wants to watch. `playhead` in seconds; `liveEdge` in any unit. */
  tick(playhead: number, liveEdge: number): StallVerdict {
    this.#silentSeconds = liveEdge > this.#edge ? 0 : this.#silentSeconds + 1;
    this.#edge = liveEdge;
    if (playhead !== this.#playhead) {
      this.#playhead = playhead;
      this.#stuckSeconds = 0;
      return 'fine';
    }
    if (this.#silentSeconds >= 3) {
      // The player gets its full time again once media returns.
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

  reset(): void {
    this.#playhead = -1;
    this.#edge = -1;
    this.#stuckSeconds = 0;
    this.#silentSeconds = 0;
  }
}
