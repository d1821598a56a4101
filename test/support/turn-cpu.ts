/** Samples the CPU time of this thread so often; a turn of the event loop that takes longer delays the next sample. */
const SAMPLE_MS = 2;

/**
 * Measures how long the event loop is blocked at most, as CPU time of this thread between two looks: unlike wall time it does not grow
 * when other programs keep the machine busy.
 */
export class TurnCpu {
  #before = process.threadCpuUsage();
  #longestMs = 0;
  #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setTimeout(() => this.#sample(), SAMPLE_MS);
  }

  /** Ends the measurement: the most CPU milliseconds between two looks. */
  stop(): number {
    this.#look();
    clearTimeout(this.#timer);
    return this.#longestMs;
  }

  #sample(): void {
    this.#look();
    this.#timer = setTimeout(() => this.#sample(), SAMPLE_MS);
  }

  #look(): void {
    const now = process.threadCpuUsage();
    const ms = (now.user + now.system - this.#before.user - this.#before.system) / 1000;
    this.#before = now;
    this.#longestMs = Math.max(this.#longestMs, ms);
  }
}
