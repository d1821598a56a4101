import { setImmediate } from 'node:timers/promises';

/** How long other work of the process may be kept waiting. */
const TURN_MS = 8;

/** Lets a long computation give way to the rest of the process, and ends it when nobody wants its result any more. */
export class Pace {
  readonly #signal: AbortSignal;
  #turnStartedAt = performance.now();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** True when {@link rest} is to be awaited. Cheap, yet not for every sample. */
  get isDue(): boolean {
    return performance.now() - this.#turnStartedAt > TURN_MS;
  }

  /** @throws the signal's reason when it was aborted */
  async rest(): Promise<void> {
    await setImmediate();
    this.#signal.throwIfAborted();
    this.#turnStartedAt = performance.now();
  }
}
