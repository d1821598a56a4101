/** Samples the CPU time of this thread so often; a turn of the event loop that takes longer delays the next sample. */
const sampleMs = 2;

/**
 * Measures how long the event loop is blocked at most, as CPU time of this thread between two looks: unlike wall time it does not grow
 * when other programs keep the machine busy.
 */
export class EventLoopBlock {
  #before = process.threadCpuUsage();
  #maxBlockMs = 0;
  #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setTimeout(() => this.#sample(), sampleMs);
  }

  /** Ends the measurement: the most CPU milliseconds between two looks. */
  stop(): number {
    this.#measure();
    clearTimeout(this.#timer);
    return this.#maxBlockMs;
  }

  #sample(): void {
    this.#measure();
    this.#timer = setTimeout(() => this.#sample(), sampleMs);
  }

  #measure(): void {
    const now = process.threadCpuUsage();
    const ms = (now.user + now.system - this.#before.user - this.#before.system) / 1000;
    this.#before = now;
    this.#maxBlockMs = Math.max(this.#maxBlockMs, ms);
  }
}
