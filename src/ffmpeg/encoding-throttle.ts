import { type Clock, systemClock } from '../shared/clock.ts';

/** A part that could be fetched this long after its last frame came in was late. */
const lateMs = 500;
/** So many late parts in so short a time are no chance. */
const lateParts = 5;
const lateWindowMs = 2_000;
/** Nothing was late for this long: there is room again. */
const calmMs = 5_000;
/**
 * Encoding goes on for at least a tenth of the time, whatever live streams need: a machine that is too small for its broadcasts
 * would never finish a video otherwise, and its owner would not see why. A tenth costs a live part at most one stretch of
 * lateness every twenty seconds.
 */
const longestPauseMs = 18_000;
const shortestRunMs = 2_000;

/** Lets encoding stand still while live streams lack the processor. */
export class EncodingThrottle {
  readonly #pause: () => void;
  readonly #resume: () => void;
  readonly #clock: Clock;
  /** When the last {@link lateParts} late parts were listed, oldest first. */
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

  /** A part of a live stream could be fetched `lagMs` after its last frame came in. */
  notePartLag(lagMs: number): void {
    if (lagMs <= lateMs) return;
    const nowMs = this.#clock.monotonicMs();
    this.#lateAtMs.push(nowMs);
    if (this.#lateAtMs.length > lateParts) this.#lateAtMs.shift();
    const isCrowded = this.#lateAtMs.length === lateParts && nowMs - this.#lateAtMs[0]! <= lateWindowMs;
    if (!isCrowded || this.isPaused || nowMs - this.#resumedAtMs < shortestRunMs) return;
    this.#pausedAtMs = nowMs;
    this.#pause();
    this.#lookAgainAfter(calmMs);
  }

  /** Lets encoding go on; call it last. */
  stop(): void {
    clearTimeout(this.#timer);
    if (this.isPaused) this.#goOn();
  }

  #look(): void {
    const nowMs = this.#clock.monotonicMs();
    const calmAtMs = this.#lateAtMs.at(-1)! + calmMs;
    const enoughAtMs = this.#pausedAtMs! + longestPauseMs;
    const resumeAtMs = Math.min(calmAtMs, enoughAtMs);
    if (nowMs >= resumeAtMs) this.#goOn();
    else this.#lookAgainAfter(resumeAtMs - nowMs);
  }

  #lookAgainAfter(delayMs: number): void {
    this.#timer = setTimeout(() => this.#look(), Math.ceil(delayMs));
  }

  #goOn(): void {
    this.#pausedAtMs = undefined;
    this.#resumedAtMs = this.#clock.monotonicMs();
    this.#lateAtMs.length = 0;
    this.#resume();
  }
}
