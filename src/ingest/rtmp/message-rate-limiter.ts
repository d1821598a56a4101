import { malformedRtmp } from '../../media/rtmp/chunk-reader.ts';

/** Seconds at the maximum rate that may arrive in one burst, as after a network stall. */
const BURST_SECONDS = 10;

/** Processing time per connection and event loop iteration. */
const SLICE_MS = 8;

/** Limits the work of one connection: a message takes two bytes, so floods cost far more CPU than bandwidth. */
export class MessageRateLimiter {
  readonly #maxPerSecond: number;
  readonly #onThrottle: (isOver: boolean) => void;
  #tokens: number;
  #refilledAtMs = 0;
  #sliceStartedAtMs: number | undefined;
  #isThrottled = false;

  /** `onThrottle(true)` pauses reading in this event loop iteration; `onThrottle(false)` comes in the next one. */
  constructor(maxPerSecond: number, onThrottle: (isOver: boolean) => void) {
    this.#maxPerSecond = maxPerSecond;
    this.#onThrottle = onThrottle;
    this.#tokens = maxPerSecond * BURST_SECONDS;
  }

  /** @throws AppError `media-malformed` above the maximum rate */
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
