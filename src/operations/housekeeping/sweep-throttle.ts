import { setTimeout as sleep } from 'node:timers/promises';

/** Work of the event loop, with that of requests, after which the walk rests. */
const workMs = 5;
const defaultRestMs = 45;

/** Pauses a long walk often, to leave the disk and the process to others. */
export class SweepThrottle {
  readonly signal: AbortSignal | undefined;
  readonly #restMs: number;
  readonly #wait: typeof sleep;
  #activeSinceMs = activeMs();

  constructor(signal: AbortSignal | undefined, { restMs = defaultRestMs, wait = sleep } = {}) {
    this.signal = signal;
    this.#restMs = restMs;
    this.#wait = wait;
  }

  get isAborted(): boolean {
    return this.signal?.aborted === true;
  }

  async pause(): Promise<void> {
    if (activeMs() - this.#activeSinceMs < workMs) return;
    const options = this.signal === undefined ? {} : { signal: this.signal };
    await this.#wait(this.#restMs, undefined, options).catch(() => {});
    this.#activeSinceMs = activeMs();
  }
}

function activeMs(): number {
  return performance.eventLoopUtilization().active;
}
