export class PausableTimer {
  readonly #delayMs: number;
  readonly #action: () => void;
  #leftMs: number;
  #startedAtMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(delayMs: number, action: () => void) {
    this.#delayMs = delayMs;
    this.#action = action;
    this.#leftMs = delayMs;
    this.resume();
  }

  /** Does nothing while paused or over. */
  restart(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#leftMs = this.#delayMs;
    this.resume();
  }

  pause(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#leftMs -= performance.now() - this.#startedAtMs;
  }

  resume(): void {
    if (this.#timer !== undefined) return;
    this.#startedAtMs = performance.now();
    this.#timer = setTimeout(this.#action, Math.max(0, this.#leftMs));
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
