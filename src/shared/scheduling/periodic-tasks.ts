import type { Component } from '../lifecycle.ts';
import type { Logger } from '../logger.ts';

/** Returns a count for the log. Leaves the rest for the next run when `signal` aborts. */
export interface PeriodicTask {
  readonly name: string;
  run(signal?: AbortSignal): number | Promise<number>;
}

/** Decides which of several servers runs the tasks. */
export interface TaskLeaderLease {
  on(listeners: { readonly take: () => void; readonly leave: () => Promise<void> }): void;
}

/** Runs tasks one after the other, soon after the start and then at an interval. */
export class PeriodicTasks implements Component {
  readonly name: string;
  readonly #tasks: readonly PeriodicTask[];
  readonly #everyMs: number;
  readonly #leaderLease: TaskLeaderLease | undefined;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;
  #currentRun: Promise<void> = Promise.resolve();
  #ending = new AbortController();
  #isStopped = false;

  /** @param options.leaderLease runs the tasks only while this server holds it; default: always */
  constructor(options: {
    name: string;
    tasks: readonly PeriodicTask[];
    everyMs: number;
    leaderLease?: TaskLeaderLease;
    log: Logger;
  }) {
    this.name = options.name;
    this.#tasks = options.tasks;
    this.#everyMs = options.everyMs;
    this.#leaderLease = options.leaderLease;
    this.#log = options.log;
  }

  async start(): Promise<void> {
    if (this.#leaderLease === undefined) this.#begin();
    else this.#leaderLease.on({ take: () => this.#begin(), leave: () => this.#end() });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#end();
  }

  #begin(): void {
    if (this.#isStopped) return;
    this.#ending = new AbortController();
    this.#schedule(0, this.#ending.signal);
  }

  async #end(): Promise<void> {
    this.#ending.abort();
    clearTimeout(this.#timer);
    await this.#currentRun;
  }

  #schedule(delayMs: number, ending: AbortSignal): void {
    this.#timer = setTimeout(() => {
      this.#currentRun = this.#runAll(ending).finally(() => {
        if (!ending.aborted) this.#schedule(this.#everyMs, ending);
      });
    }, delayMs);
  }

  async #runAll(ending: AbortSignal): Promise<void> {
    for (const task of this.#tasks) {
      if (ending.aborted) return;
      try {
        const count = await task.run(ending);
        if (count > 0) this.#log.info('task-done', { task: task.name, count });
      } catch (error) {
        this.#log.error('task-failed', { task: task.name, error });
      }
    }
  }
}
