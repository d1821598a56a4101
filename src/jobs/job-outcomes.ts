import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../shared/clock.ts';
import { AppError, messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import { type RetrySchedule, retryDelayMs } from '../shared/scheduling/retry-schedule.ts';
import type { Database } from '../store/database.ts';
import type { JobStore, StoredJob } from './job.store.ts';
import type { JobKind } from './job.ts';

/** Attempts that the server's stop ended have none. */
export type JobOutcome = 'done' | 'retried' | 'failed' | 'cancelled';

export interface JobsObserver {
  jobEnded(kind: string, outcome: JobOutcome, durationMs: number): void;
}

export interface JobAttempt {
  readonly job: StoredJob;
  readonly kind: JobKind;
  readonly number: number;
  readonly startedAtMs: number;
  /** The job was removed. */
  readonly isCancelled: boolean;
  readonly controller: AbortController;
}

export interface AttemptFailure {
  readonly error: unknown;
}

export const jobRetries: RetrySchedule = {
  delaysMs: [1_000, 5_000, 30_000, 120_000, 600_000],
  jitter: { min: 1, max: 1.2 },
};
export const databaseRetryMs = 1_000;
const maxFailureLength = 1_000;

export class JobOutcomes {
  readonly #store: JobStore;
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #observer: JobsObserver | undefined;

  constructor(options: {
    readonly store: JobStore;
    readonly database: Database;
    readonly clock: Clock;
    readonly log: Logger;
    readonly observer: JobsObserver | undefined;
  }) {
    this.#store = options.store;
    this.#database = options.database;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#observer = options.observer;
  }

  /** Repeats until the database accepts the outcome or `stopping` aborts. */
  async record(
    attempt: JobAttempt,
    failure: AttemptFailure | undefined,
    stopping: AbortSignal,
  ): Promise<void> {
    for (;;) {
      try {
        const outcome = await this.#write(attempt, failure);
        const durationMs = this.#clock.monotonicMs() - attempt.startedAtMs;
        if (outcome !== undefined) this.#observer?.jobEnded(attempt.kind.kind, outcome, durationMs);
        return;
      } catch (error) {
        this.#log.error('job-outcome-not-saved', { ...idsOf(attempt.job), error });
        if (stopping.aborted) return;
        await sleep(databaseRetryMs, undefined, { signal: stopping }).catch(() => {});
      }
    }
  }

  /** The process died too often during this job: the job may be what ends it. */
  async failCrashed(job: StoredJob, kind: JobKind): Promise<void> {
    const sentence = `The server stopped unexpectedly ${job.crashes} times while it worked on this file.`;
    const detail = `${sentence} Upload it again, or in another format.`;
    const error = new AppError('server-error', sentence, { details: { detail } });
    const outcome = await this.#giveUp(job, kind, job.attempts, error);
    this.#observer?.jobEnded(kind.kind, outcome, 0);
  }

  async #write(
    { job, kind, number, isCancelled, controller }: JobAttempt,
    failure: AttemptFailure | undefined,
  ): Promise<JobOutcome | undefined> {
    const nowMs = this.#clock.nowMs();
    if (isCancelled) {
      this.#log.debug('job-cancelled', idsOf(job));
      return 'cancelled';
    }
    if (failure === undefined) {
      await this.#store.remove(job.id);
      this.#log.debug('job-done', idsOf(job));
      return 'done';
    }
    if (controller.signal.aborted) {
      await this.#store.requeue(job.id, nowMs, job.attempts, null);
      this.#log.debug('job-requeued', idsOf(job));
      return undefined;
    }
    const { error } = failure;
    const isFinal = error instanceof AppError && error.kind === 'invalid';
    // A full disk is not the job's fault and may last long: the last attempt is repeated.
    const isDiskFull = error instanceof AppError && error.code === 'disk-full';
    if (isFinal || (number >= kind.maxAttempts && !isDiskFull)) {
      return await this.#giveUp(job, kind, number, error);
    }
    const delayMs = retryDelayMs(jobRetries, number);
    const attempts = Math.min(number, Math.max(1, kind.maxAttempts - 1));
    await this.#store.requeue(job.id, nowMs + delayMs, attempts, failureText(error));
    this.#log.warn('job-retried', { ...idsOf(job), attempt: number, delayMs, error });
    return 'retried';
  }

  async #giveUp(job: StoredJob, kind: JobKind, attempts: number, error: unknown): Promise<JobOutcome> {
    const nowMs = this.#clock.nowMs();
    try {
      await this.#database.transaction(async transaction => {
        if (!(await this.#store.fail(job.id, failureText(error), nowMs, transaction))) return;
        await kind.onGiveUp?.(job, error, transaction);
      });
    } catch (fault) {
      // Without the consequences, the owner would wait forever: the job is tried again.
      this.#log.error('job-give-up-failed', { ...idsOf(job), error: fault });
      await this.#store.requeue(
        job.id,
        nowMs + retryDelayMs(jobRetries, jobRetries.delaysMs.length),
        attempts,
        failureText(error),
      );
      return 'retried';
    }
    const level = error instanceof AppError ? error.logLevel : 'error';
    this.#log[level]('job-failed', { ...idsOf(job), attempts, error });
    return 'failed';
  }
}

export function idsOf(job: StoredJob): Readonly<Record<string, unknown>> {
  return { jobId: job.id, kind: job.kind, subjectId: job.subjectId };
}

function failureText(error: unknown): string {
  return messageOf(error).slice(0, maxFailureLength);
}
