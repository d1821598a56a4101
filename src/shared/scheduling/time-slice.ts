import { yieldToEventLoop } from './yield-to-event-loop.ts';

/** Splits a long computation into slices of a few milliseconds. */
export class TimeSlice {
  readonly #maxMs: number;
  readonly #signal: AbortSignal | undefined;
  #startedAtMs = performance.now();

  constructor(maxMs: number, signal?: AbortSignal) {
    this.#maxMs = maxMs;
    this.#signal = signal;
  }

  static async begin(maxMs: number, signal?: AbortSignal): Promise<TimeSlice> {
    const slice = new TimeSlice(maxMs, signal);
    await slice.next();
    return slice;
  }

  /** Cheap, but not for every sample of a loop. */
  get isOver(): boolean {
    return performance.now() - this.#startedAtMs >= this.#maxMs;
  }

  /** @throws the reason of an aborted signal */
  async next(): Promise<void> {
    await yieldToEventLoop();
    this.#signal?.throwIfAborted();
    this.#startedAtMs = performance.now();
  }

  async yieldIfOver(): Promise<void> {
    if (this.isOver) await this.next();
  }
}
