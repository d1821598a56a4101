import { setTimeout as sleep } from 'node:timers/promises';

const workMs = 25;
const restMs = 10;

/** Lets a long walk over files and rows take little of the disk and of the process: it rests after each short while of work. */
export class SweepThrottle {
  readonly #signal: AbortSignal | undefined;
  #workedSinceMs = performance.now();

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** Whether the walk is to end where it is. */
  get isAborted(): boolean {
    return this.#signal?.aborted === true;
  }

  /** After each step. */
  async pause(): Promise<void> {
    if (performance.now() - this.#workedSinceMs < workMs) return;
    await sleep(restMs, undefined, this.#signal === undefined ? {} : { signal: this.#signal }).catch(
      () => {},
    );
    this.#workedSinceMs = performance.now();
  }
}
