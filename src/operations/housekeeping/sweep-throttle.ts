import { setTimeout as sleep } from 'node:timers/promises';

const workMs = 25;
const restMs = 10;

/** Pauses a long walk often, to leave the disk and the process to others. */
export class SweepThrottle {
  readonly signal: AbortSignal | undefined;
  #workedSinceMs = performance.now();

  constructor(signal: AbortSignal | undefined) {
    this.signal = signal;
  }

  get isAborted(): boolean {
    return this.signal?.aborted === true;
  }

  async pause(): Promise<void> {
    if (performance.now() - this.#workedSinceMs < workMs) return;
    await sleep(restMs, undefined, this.signal === undefined ? {} : { signal: this.signal }).catch(() => {});
    this.#workedSinceMs = performance.now();
  }
}
