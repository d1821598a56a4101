import { createHook } from 'node:async_hooks';

/** A timer that was set by the server's code. */
interface SetTimer {
  readonly timeout: { readonly _idleTimeout: number; readonly _destroyed: boolean };
  /** The stack of the call that set it. */
  readonly stack: string;
}

const sourceFolder = new URL('../../src/', import.meta.url).pathname;

/**
 * Knows the timers that code of the server has set since this was made, in this thread, those too that do not keep the process alive.
 * `using` ends that.
 */
export class TimerRecorder {
  readonly #timers = new Set<SetTimer>();
  readonly #hook = createHook({
    init: (_id, type, _trigger, resource) => {
      if (type !== 'Timeout') return;
      const { stack = '' } = new Error('set here');
      if (stack.includes(sourceFolder)) {
        this.#timers.add({ timeout: resource as SetTimer['timeout'], stack });
      }
    },
  }).enable();

  /** Returns the stacks of the calls that set timers which fire in less than `ms`. */
  pending(ms: number): string[] {
    for (const timer of this.#timers) if (timer.timeout._destroyed) this.#timers.delete(timer);
    return [...this.#timers].filter(({ timeout }) => timeout._idleTimeout < ms).map(({ stack }) => stack);
  }

  [Symbol.dispose](): void {
    this.#hook.disable();
  }
}
