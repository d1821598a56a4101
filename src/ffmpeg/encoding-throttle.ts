import { type Clock, systemClock } from '../shared/clock.ts';

/** Delay from the arrival of a part's last frame to its listing. */
const lateMs = 500;
const minLateParts = 5;
const lateWindowMs = 2_000;
const calmMs = 5_000;
/** Encoding gets at least a tenth of the time, or it would never finish on a small machine. */
const maxPauseMs = 18_000;
const minRunMs = 2_000;

export class EncodingThrottle {
  readonly #pause: () => void;
  readonly #resume: () => void;
  readonly #clock: Clock;
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
