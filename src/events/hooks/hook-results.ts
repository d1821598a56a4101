import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { type HookResult, maxKeptResults } from './hook.ts';
import type { HooksStore } from './hooks.store.ts';

const minIntervalMs = 1_000;

/** Stores the newest results of hooks, once a second at most. */
export class HookResults implements Component {
  readonly name = 'hook-results';
  readonly #store: HooksStore;
  readonly #log: Logger;
  /** Results by hook, oldest first. */
  readonly #waiting = new Map<string, HookResult[]>();
  #timer: NodeJS.Timeout | undefined;
  #storing: Promise<void> | undefined;
  #storedAtMs = Number.NEGATIVE_INFINITY;
  #isStopped = false;

  constructor(store: HooksStore, log: Logger) {
    this.#store = store;
    this.#log = log;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.flush();
  }

  add(hookId: string, result: HookResult): void {
    const results = this.#waiting.get(hookId) ?? [];
    this.#waiting.set(hookId, results);
    results.push(result);
    if (results.length > maxKeptResults) results.shift();
    this.#schedule();
  }

  /** Resolves when all results so far are stored, or lost with a line in the log. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#storing !== undefined) await this.#storing;
    this.#storing = this.#storeAll().finally(() => {
      this.#storing = undefined;
    });
    await this.#storing;
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#isStopped) return;
    const delayMs = Math.max(0, this.#storedAtMs + minIntervalMs - performance.now());
    this.#timer = setTimeout(() => void this.flush(), delayMs);
  }

  async #storeAll(): Promise<void> {
    this.#storedAtMs = performance.now();
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const [hookId, results] of waiting) {
      try {
        await this.#store.addResults(hookId, results);
      } catch (error) {
        this.#log.error('hook-results-not-stored', { hookId, error });
      }
    }
  }
}
