import { performance } from 'node:perf_hooks';
import { malformedRtmp } from '../../media/rtmp/chunk-reader.ts';
import { TokenBucket } from '../../shared/token-buckets.ts';

/** Seconds at the maximum rate that may arrive in one burst, as after a network stall. */
const BURST_SECONDS = 10;

/** Processing time per connection until others get a turn. */
const SLICE_MS = 8;

/** Limits the work of one connection: a message takes two bytes, so floods cost far more CPU than bandwidth. */
export class MessageRateLimiter {
  readonly #maxPerSecond: number;
  readonly #onThrottle: (isOver: boolean) => void;
  readonly #messages: TokenBucket;
  #readStartedAtMs = 0;
  #readEndedAtMs = 0;
  #countOfRead = 0;
  /** Work of the reads that followed each other closely. */
  #workMs = 0;
  #isThrottled = false;

  /** `onThrottle(true)` pauses reading in this event loop iteration; `onThrottle(false)` comes in the next one. */
  constructor(maxPerSecond: number, onThrottle: (isOver: boolean) => void) {
    this.#maxPerSecond = maxPerSecond;
    this.#onThrottle = onThrottle;
    const burst = maxPerSecond * BURST_SECONDS;
    this.#messages = new TokenBucket({ perSecond: maxPerSecond, burst, nowMs: performance.now() });
  }

  /** Starts a read. Pauses between reads are the turns of others, so that ordinary reads need no timer. */
  readStarted(): void {
    this.#readStartedAtMs = performance.now();
    this.#workMs = Math.max(0, this.#workMs - (this.#readStartedAtMs - this.#readEndedAtMs));
    this.#countOfRead = 0;
  }

  readEnded(): void {
    // A connection has one such read per turn anyway.
    if (this.#countOfRead <= 1) return;
    this.#readEndedAtMs = performance.now();
    this.#workMs += this.#readEndedAtMs - this.#readStartedAtMs;
  }

  /** @throws AppError `media-malformed` above the maximum rate */
  count(): void {
    this.#countOfRead += 1;
    const nowMs = this.#countOfRead === 1 ? this.#readStartedAtMs : performance.now();
    if (!this.#messages.take(nowMs))
      throw malformedRtmp(`more than ${this.#maxPerSecond} messages per second`);
    if (this.#isThrottled || this.#workMs + nowMs - this.#readStartedAtMs <= SLICE_MS) return;
    this.#isThrottled = true;
    this.#onThrottle(true);
    setImmediate(() => {
      this.#isThrottled = false;
      this.#workMs = 0;
      this.#onThrottle(false);
    });
  }
}
