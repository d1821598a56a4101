import { malformedRtmp } from '../../media/rtmp/chunk-reader.ts';

/** Seconds of messages at the maximum rate that may arrive in one burst, as after a network stall. */
const BURST_SECONDS = 10;

/** Maximum processing time of one connection's messages per event loop iteration. */
const SLICE_MS = 8;

/**
 * Limits the work that the messages of one connection cause: a message takes two bytes, so a flood costs far more CPU time than
 * its bandwidth suggests.
 */
export class MessageRateLimiter {
  readonly #maxPerSecond: number;
  readonly #onThrottle: (isOver: boolean) => void;
  #tokens: number;
  #refilledAtMs = 0;
  #sliceStartedAtMs: number | undefined;
  #isThrottled = false;

  /**
   * `onThrottle` is called with true when reading must pause in this iteration of the event loop, and with false in the next one.
   */
  constructor(maxPerSecond: number, onThrottle: (isOver: boolean) => void) {
    this.#maxPerSecond = maxPerSecond;
    this.#onThrottle = onThrottle;
    this.#tokens = maxPerSecond * BURST_SECONDS;
  }

  /** Counts a message. @throws AppError `media-malformed` above the maximum rate */
  count(): void {
    const nowMs = performance.now();
    const refill = ((nowMs - this.#refilledAtMs) * this.#maxPerSecond) / 1000;
    this.#refilledAtMs = nowMs;
    this.#tokens = Math.min(this.#maxPerSecond * BURST_SECONDS, this.#tokens + refill) - 1;
    if (this.#tokens < 0) throw malformedRtmp(`more than ${this.#maxPerSecond} messages per second`);
    if (this.#sliceStartedAtMs === undefined) {
      this.#sliceStartedAtMs = nowMs;
      setImmediate(() => this.#endSlice());
    } else if (!this.#isThrottled && nowMs - this.#sliceStartedAtMs > SLICE_MS) {
      this.#isThrottled = true;
      this.#onThrottle(true);
    }
  }

  #endSlice(): void {
    this.#sliceStartedAtMs = undefined;
    if (!this.#isThrottled) return;
    this.#isThrottled = false;
    this.#onThrottle(false);
  }
}
