/** Calls an action after a time that does not count while it is paused. */
export class PausableTimer {
  readonly #delayMs: number;
  readonly #action: () => void;
  #leftMs: number;
  #startedAtMs = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Starts at once. */
  constructor(delayMs: number, action: () => void) {
    this.#delayMs = delayMs;
    this.#action = action;
    this.#leftMs = delayMs;
    this.resume();
  }

  /** Lets the whole time begin anew, unless it is paused or over. */
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

  /** Ends it; the action is not called any more. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
