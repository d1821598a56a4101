import { malformedRtmp } from '../../media/rtmp/chunk-reader.ts';

/** Messages may come in bursts as large as these many seconds at the maximum rate: an encoder sends what a network held back. */
const BURST_SECONDS = 10;

/** Time that the messages of one connection may take of one turn of the event loop. */
const TURN_MS = 8;

/**
 * Bounds the work that the messages of one connection cause: two bytes make a message, so a flood of them costs much more time than
 * their bytes say.
 */
export class MessageRateLimiter {
  readonly #maxPerSecond: number;
  readonly #onTurnOver: (isOver: boolean) => void;
  #left: number;
  #countedAtMs = 0;
  #turnStartedAtMs: number | undefined;
  #isTurnOver = false;

  /** `onTurnOver` is called with true when no more may be read in this turn of the event loop, and with false in the next one. */
  constructor(maxPerSecond: number, onTurnOver: (isOver: boolean) => void) {
    this.#maxPerSecond = maxPerSecond;
    this.#onTurnOver = onTurnOver;
    this.#left = maxPerSecond * BURST_SECONDS;
  }

  /** Counts a message. @throws AppError `media-malformed` when they come too fast */
  count(): void {
    const nowMs = performance.now();
    const earned = ((nowMs - this.#countedAtMs) * this.#maxPerSecond) / 1000;
    this.#countedAtMs = nowMs;
    this.#left = Math.min(this.#maxPerSecond * BURST_SECONDS, this.#left + earned) - 1;
    if (this.#left < 0) throw malformedRtmp(`more than ${this.#maxPerSecond} messages per second`);
    if (this.#turnStartedAtMs === undefined) {
      this.#turnStartedAtMs = nowMs;
      setImmediate(() => this.#nextTurn());
    } else if (!this.#isTurnOver && nowMs - this.#turnStartedAtMs > TURN_MS) {
      this.#isTurnOver = true;
      this.#onTurnOver(true);
    }
  }

  #nextTurn(): void {
    this.#turnStartedAtMs = undefined;
    if (!this.#isTurnOver) return;
    this.#isTurnOver = false;
    this.#onTurnOver(false);
  }
}
