import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import type { Database } from '../store/database.ts';
import { idsOf } from './job-outcomes.ts';
import type { JobOwner } from './job-owner.ts';
import { JobRecoveryStore } from './job-recovery.store.ts';
import type { StoredJob } from './job-rows.ts';

/** Requeues jobs whose node died, and fails those that crashed too often. */
export class JobRecovery {
  readonly #store: JobRecoveryStore;
  readonly #maxCrashes: number;
  readonly #owner: JobOwner;
  readonly #failCrashed: (job: StoredJob) => Promise<void>;
  readonly #log: Logger;

  constructor(options: {
    readonly database: Database;
    readonly clock: Clock;
    readonly maxCrashes: number;
    readonly owner: JobOwner;
    readonly failCrashed: (job: StoredJob) => Promise<void>;
    readonly log: Logger;
  }) {
    this.#store = new JobRecoveryStore(options.database, options.clock, options.maxCrashes);
    this.#maxCrashes = options.maxCrashes;
    this.#owner = options.owner;
    this.#failCrashed = options.failCrashed;
    this.#log = options.log;
  }

  /** Of the former process of this node. */
  async releaseOwn(): Promise<void> {
    await this.#recover(await this.#store.releaseOwn(this.#owner.id));
  }

  async releaseGone(nodeId: string): Promise<void> {
    await this.#recover(await this.#store.releaseGone(nodeId));
  }

  /** Returns false when there was none. */
  async releaseExpired(): Promise<boolean> {
    const released = await this.#store.releaseExpired();
    await this.#recover(released);
    return released.length > 0;
  }

  async #recover(jobs: readonly StoredJob[]): Promise<void> {
    for (const job of jobs) {
      this.#log.info('job-interrupted', { ...idsOf(job), attempts: job.attempts, crashes: job.crashes });
      if (job.crashes >= this.#maxCrashes) await this.#failCrashed(job);
    }
  }
}
