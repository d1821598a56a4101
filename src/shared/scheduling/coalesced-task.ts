/** Runs a task after this event loop iteration, one run at a time. Requests during a run lead to one more. */
export class CoalescedTask {
  readonly #run: () => Promise<void>;
  #immediate: NodeJS.Immediate | undefined;
  #running: Promise<void> | undefined;
  #isRequested = false;

  /** @param run handles its errors */
  constructor(run: () => Promise<void>) {
    this.#run = run;
  }

  request(): void {
    this.#isRequested = true;
    if (this.#running === undefined) this.#immediate ??= setImmediate(() => this.#start());
  }

  /** Forgets requests. A run that has begun continues. */
  cancel(): void {
    this.#isRequested = false;
    clearImmediate(this.#immediate);
    this.#immediate = undefined;
  }

  /** Resolves after the current run. */
  async idle(): Promise<void> {
    await this.#running;
  }

  #start(): void {
    this.#immediate = undefined;
    this.#isRequested = false;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      if (this.#isRequested) this.request();
    });
  }
}
