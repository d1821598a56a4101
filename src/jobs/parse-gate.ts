interface Waiting {
  readonly isAlone: boolean;
  readonly start: () => void;
}

/** Lets jobs parse files of others at the same time, except for those that must be the only one. First come, first served. */
export class ParseGate {
  #running = 0;
  #hasLoner = false;
  readonly #waiting: Waiting[] = [];

  /** @throws the reason of `signal`, which ends the waiting */
  async run<Result>(
    { isAlone, signal }: { readonly isAlone: boolean; readonly signal: AbortSignal },
    work: () => Promise<Result>,
  ): Promise<Result> {
    signal.throwIfAborted();
    await this.#enter(isAlone, signal);
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#hasLoner = false;
      this.#startNext();
    }
  }

  #enter(isAlone: boolean, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = () => {
      this.#waiting.splice(this.#waiting.indexOf(one), 1);
      reject(signal.reason);
      this.#startNext();
    };
    const one: Waiting = {
      isAlone,
      start: () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      },
    };
    signal.addEventListener('abort', onAbort, { once: true });
    this.#waiting.push(one);
    this.#startNext();
    return promise;
  }

  #startNext(): void {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined || this.#hasLoner || (next.isAlone && this.#running > 0)) return;
      this.#waiting.shift();
      this.#running += 1;
      this.#hasLoner = next.isAlone;
      next.start();
    }
  }
}
