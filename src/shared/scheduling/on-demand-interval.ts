/** Runs only while there is something to watch. Never keeps the process alive. */
export class OnDemandInterval {
  readonly #everyMs: number;
  readonly #tick: () => boolean;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** @param tick returns false to stop the timer until {@link wake} */
  constructor(everyMs: number, tick: () => boolean) {
    this.#everyMs = everyMs;
    this.#tick = tick;
  }

  wake(): void {
    if (this.#timer !== undefined || this.#isStopped) return;
    this.#timer = setInterval(() => {
      if (!this.#tick()) this.#pause();
    }, this.#everyMs);
    this.#timer.unref();
  }

  /** {@link wake} has no effect from then on. */
  stop(): void {
    this.#isStopped = true;
    this.#pause();
  }

  #pause(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
