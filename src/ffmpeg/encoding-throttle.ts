import { type Clock, systemClock } from '../shared/clock.ts';

/** A part that is listed this long after its last frame arrived is late. */
const lateMs = 500;
/** So many late parts in the window are overload. */
const minLateParts = 5;
const lateWindowMs = 2_000;
/** Time without a late part after which encoding resumes. */
const calmMs = 5_000;
/**
 * Encoding gets at least a tenth of the time: on a machine that is too small for its broadcasts it would never finish otherwise. That costs
 * live parts at most one period of lateness every twenty seconds.
 */
const maxPauseMs = 18_000;
const minRunMs = 2_000;

/** Pauses encoding while live streams lack processor time. */
export class EncodingThrottle {
  readonly #pause: () => void;
  readonly #resume: () => void;
  readonly #clock: Clock;
  /** Times of the last late parts, oldest first. */
  readonly #lateAtMs: number[] = [];
  #pausedAtMs: number | undefined;
  #resumedAtMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: {
    readonly pause: () => void;
    readonly resume: () => void;
    readonly clock?: Clock;
  }) {
    this.#pause = options.pause;
    this.#resume = options.resume;
    this.#clock = options.clock ?? systemClock;
  }

  get isPaused(): boolean {
    return this.#pausedAtMs !== undefined;
  }

  /** @param lagMs from the arrival of the last frame to the listing of the part */
  notePartLag(lagMs: number): void {
    if (lagMs <= lateMs) return;
    const nowMs = this.#clock.monotonicMs();
    this.#lateAtMs.push(nowMs);
    if (this.#lateAtMs.length > minLateParts) this.#lateAtMs.shift();
    const isOverloaded = this.#lateAtMs.length === minLateParts && nowMs - this.#lateAtMs[0]! <= lateWindowMs;
    if (!isOverloaded || this.isPaused || nowMs - this.#resumedAtMs < minRunMs) return;
    this.#pausedAtMs = nowMs;
    this.#pause();
    this.#checkAfter(calmMs);
  }

  /** Resumes encoding for good. */
  stop(): void {
    clearTimeout(this.#timer);
    if (this.isPaused) this.#resumeNow();
  }

  #check(): void {
    const nowMs = this.#clock.monotonicMs();
    const calmAtMs = this.#lateAtMs.at(-1)! + calmMs;
    const enoughAtMs = this.#pausedAtMs! + maxPauseMs;
    const resumeAtMs = Math.min(calmAtMs, enoughAtMs);
    if (nowMs >= resumeAtMs) this.#resumeNow();
    else this.#checkAfter(resumeAtMs - nowMs);
  }

  #checkAfter(delayMs: number): void {
    this.#timer = setTimeout(() => this.#check(), Math.ceil(delayMs));
  }

  #resumeNow(): void {
    this.#pausedAtMs = undefined;
    this.#resumedAtMs = this.#clock.monotonicMs();
    this.#lateAtMs.length = 0;
    this.#resume();
  }
}
