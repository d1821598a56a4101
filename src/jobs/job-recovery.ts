import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import type { Database } from '../store/database.ts';
import { idsOf } from './job-outcomes.ts';
import type { JobOwner } from './job-owner.ts';
import { JobRecoveryStore, type ReleasedJob } from './job-recovery.store.ts';
import type { StoredJob } from './job-rows.ts';

/** Requeues jobs whose node died, and fails those whose file ended the process too often. */
export class JobRecovery {
  readonly #store: JobRecoveryStore;
  readonly #maxCrashes: number;
  readonly #owner: JobOwner;
  readonly #maxAttempts: (job: StoredJob) => number;
  readonly #failCrashed: (job: StoredJob, times: number) => Promise<void>;
  readonly #log: Logger;

  constructor(options: {
    readonly database: Database;
    readonly clock: Clock;
    readonly maxCrashes: number;
    readonly owner: JobOwner;
    readonly maxAttempts: (job: StoredJob) => number;
    readonly failCrashed: (job: StoredJob, times: number) => Promise<void>;
    readonly log: Logger;
  }) {
    this.#store = new JobRecoveryStore(options.database, options.clock, options.maxCrashes);
    this.#maxCrashes = options.maxCrashes;
    this.#owner = options.owner;
    this.#maxAttempts = options.maxAttempts;
    this.#failCrashed = options.failCrashed;
    this.#log = options.log;
  }

  /** Releases jobs of the former process of this node. */
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

  async #recover(jobs: readonly ReleasedJob[]): Promise<void> {
    for (const job of jobs) {
      this.#log.info('job-interrupted', { ...idsOf(job), attempts: job.attempts, crashes: job.crashes });
      if (!job.wasParsing) continue;
      if (job.crashes >= this.#maxCrashes) await this.#failCrashed(job, job.crashes);
      // Servers that never come back cannot tell whether they died.
      else if (job.attempts >= this.#maxAttempts(job)) await this.#failCrashed(job, job.attempts);
    }
  }
}
