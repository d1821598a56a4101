import type { Component } from '../lifecycle.ts';
import type { Logger } from '../logger.ts';

/** Returns a count for the log. Leaves the rest for the next run when `signal` aborts. */
export interface PeriodicTask {
  readonly name: string;
  run(signal?: AbortSignal): number | Promise<number>;
}

/** Runs tasks one after the other, soon after the start and then at an interval. */
export class PeriodicTasks implements Component {
  readonly name: string;
  readonly #tasks: readonly PeriodicTask[];
  readonly #everyMs: number;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;
  #currentRun: Promise<void> = Promise.resolve();
  readonly #stopping = new AbortController();

  constructor(options: { name: string; tasks: readonly PeriodicTask[]; everyMs: number; log: Logger }) {
    this.name = options.name;
    this.#tasks = options.tasks;
    this.#everyMs = options.everyMs;
    this.#log = options.log;
  }

  async start(): Promise<void> {
    this.#schedule(0);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#currentRun;
  }

  #schedule(delayMs: number): void {
    this.#timer = setTimeout(() => {
      this.#currentRun = this.#runAll().finally(() => {
        if (!this.#stopping.signal.aborted) this.#schedule(this.#everyMs);
      });
    }, delayMs);
  }

  async #runAll(): Promise<void> {
    for (const task of this.#tasks) {
      if (this.#stopping.signal.aborted) return;
      try {
        const count = await task.run(this.#stopping.signal);
        if (count > 0) this.#log.info('task-done', { task: task.name, count });
      } catch (error) {
        this.#log.error('task-failed', { task: task.name, error });
      }
    }
  }
}
