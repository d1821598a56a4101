import type { Logger } from '../shared/logger.ts';
import type { LeaderLease } from './node.ts';

interface LeaderLeaseListener {
  readonly take: () => void;
  readonly leave: () => Promise<void> | void;
}

/** A leader lease that comes and goes with the lease of the node. */
export class NodeLeaderLease implements LeaderLease {
  readonly name: string;
  readonly #hasLease: () => boolean;
  readonly #log: Logger;
  readonly #listeners: LeaderLeaseListener[] = [];
  #isTaken = false;
  #leaving: Promise<void> | undefined;

  /** @param hasLease read at each use: a process that was stopped for a while notices when it goes on */
  constructor(name: string, hasLease: () => boolean, log: Logger) {
    this.name = name;
    this.#hasLease = hasLease;
    this.#log = log;
  }

  get isLeader(): boolean {
    return this.#isTaken && this.#hasLease();
  }

  /** True while the lease is held, or was lost and its listeners still leave. */
  get isInUse(): boolean {
    return this.#isTaken || this.#leaving !== undefined;
  }

  on(listener: LeaderLeaseListener): void {
    this.#listeners.push(listener);
    if (this.isLeader) this.#call(listener);
  }

  take(): void {
    this.#isTaken = true;
    this.#log.info('duty-taken', { duty: this.name });
    for (const listener of this.#listeners) this.#call(listener);
  }

  /** Resolves when all listeners have left. */
  leave(): Promise<void> {
    if (this.#isTaken) {
      this.#isTaken = false;
      this.#log.info('duty-left', { duty: this.name });
      this.#leaving = this.#leaveAll().finally(() => {
        this.#leaving = undefined;
      });
    }
    return this.#leaving ?? Promise.resolve();
  }

  #call({ take }: LeaderLeaseListener): void {
    try {
      take();
    } catch (error) {
      this.#log.error('duty-take-failed', { duty: this.name, error });
    }
  }

  async #leaveAll(): Promise<void> {
    const results = await Promise.allSettled(this.#listeners.map(async ({ leave }) => leave()));
    for (const result of results) {
      if (result.status === 'rejected') {
        this.#log.error('duty-leave-failed', { duty: this.name, error: result.reason });
      }
    }
  }
}
