import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../shared/clock.ts';
import { AppError, type ErrorCode, messageOf } from '../shared/errors.ts';
import { toMachineError } from '../shared/files/disk-error.ts';
import type { Logger } from '../shared/logger.ts';
import { type RetrySchedule, retryDelayMs } from '../shared/scheduling/retry-schedule.ts';
import type { Database } from '../store/database.ts';
import type { JobKind } from './job.ts';
import type { Claim, JobClaimStore } from './job-claims.store.ts';
import type { StoredJob } from './job-rows.ts';

/** Attempts that the server's stop ended have none, and those of jobs that another node has taken over. */
export type JobOutcome = 'done' | 'retried' | 'failed' | 'cancelled';

export interface JobsObserver {
  jobEnded(kind: string, outcome: JobOutcome, durationMs: number): void;
}

export interface JobAttempt {
  readonly job: StoredJob;
  readonly kind: JobKind;
  readonly number: number;
  readonly startedAtMs: number;
  /** The job was removed, or another node runs it now. */
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
const maxRequestedDelayMs = 3_600_000;
const maxFailureLength = 1_000;
const machineFaults: readonly ErrorCode[] = ['disk-full', 'out-of-resources', 'data-dir-unusable'];

export class JobOutcomes {
  readonly #claims: JobClaimStore;
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #observer: JobsObserver | undefined;

  constructor(options: {
    readonly claims: JobClaimStore;
    readonly database: Database;
    readonly clock: Clock;
    readonly log: Logger;
    readonly observer: JobsObserver | undefined;
  }) {
    this.#claims = options.claims;
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
        if (outcome === undefined || outcome === 'cancelled') await this.#claims.denyCrash(attempt.job.id);
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

  /** The process died too often while it parsed the file of this job: the file may be what ends it. */
  async failCrashed(job: StoredJob, kind: JobKind, times: number): Promise<void> {
    const sentence = `The server stopped unexpectedly ${times} times while it processed this file.`;
    const detail = `${sentence} Upload it again, or in another format.`;
    const error = new AppError('server-error', sentence, { details: { detail } });
    const outcome = await this.#giveUp(job, kind, { attempts: job.attempts, isRunning: false }, error);
    if (outcome !== undefined) this.#observer?.jobEnded(kind.kind, outcome, 0);
  }

  async #write(
    { job, kind, number, isCancelled, controller }: JobAttempt,
    failure: AttemptFailure | undefined,
  ): Promise<JobOutcome | undefined> {
    const claim: Claim = { id: job.id, attempt: number };
    if (isCancelled) {
      // Removes the row, for which others wait.
      await this.#claims.remove(claim);
      this.#log.debug('job-cancelled', idsOf(job));
      return 'cancelled';
    }
    if (failure === undefined) {
      if (!(await this.#claims.remove(claim))) return this.#lost(job);
      this.#log.debug('job-done', idsOf(job));
      return 'done';
    }
    if (controller.signal.aborted) {
      await this.#claims.requeue(claim, { delayMs: 0, attempts: job.attempts, failure: null });
      this.#log.debug('job-requeued', idsOf(job));
      return undefined;
    }
    const { error } = failure;
    const isFinal = error instanceof AppError && error.kind === 'invalid';
    // The machine is not the job's fault and may lack room for long: the last attempt is repeated.
    if (isFinal || (number >= kind.maxAttempts && !isMachineFault(error))) {
      return await this.#giveUp(job, kind, { attempts: number, isRunning: true }, error);
    }
    const delayMs = Math.max(retryDelayMs(jobRetries, number), requestedDelayMs(error));
    const attempts = Math.min(number, Math.max(1, kind.maxAttempts - 1));
    const isRequeued = await this.#claims.requeue(claim, { delayMs, attempts, failure: failureText(error) });
    if (!isRequeued) return this.#lost(job);
    this.#log.warn('job-retried', { ...idsOf(job), attempt: number, delayMs, error });
    return 'retried';
  }

  /** @param isRunning false for a job that crashed, and that nobody runs */
  async #giveUp(
    job: StoredJob,
    kind: JobKind,
    { attempts, isRunning }: { readonly attempts: number; readonly isRunning: boolean },
    error: unknown,
  ): Promise<JobOutcome | undefined> {
    const claim: Claim = { id: job.id, attempt: attempts };
    const state = isRunning ? 'running' : 'waiting';
    try {
      const hasFailed = await this.#database.transaction(async transaction => {
        if (!(await this.#claims.fail(claim, failureText(error), state, transaction))) return false;
        await kind.onGiveUp?.(job, error, transaction);
        return true;
      });
      if (!hasFailed) return this.#lost(job);
    } catch (fault) {
      // Tries the job again: without the consequences, the owner would wait forever.
      this.#log.error('job-give-up-failed', { ...idsOf(job), error: fault });
      const delayMs = retryDelayMs(jobRetries, jobRetries.delaysMs.length);
      if (isRunning) await this.#claims.requeue(claim, { delayMs, attempts, failure: failureText(error) });
      return 'retried';
    }
    const level = error instanceof AppError ? error.logLevel : 'error';
    this.#log[level]('job-failed', { ...idsOf(job), attempts, error });
    return 'failed';
  }

  #lost(job: StoredJob): undefined {
    this.#log.info('job-outcome-not-wanted', { ...idsOf(job), reason: 'removed, or run by another node' });
    return undefined;
  }
}

export function idsOf(job: StoredJob): Readonly<Record<string, unknown>> {
  return { jobId: job.id, kind: job.kind, subjectId: job.subjectId };
}

/** Delay that a server requested with `Retry-After`. */
function requestedDelayMs(error: unknown): number {
  const seconds = error instanceof AppError ? (error.details.retryAfterSeconds ?? 0) : 0;
  return Math.min(maxRequestedDelayMs, 1_000 * seconds);
}

/** Resources of the machine are exhausted. */
function isMachineFault(error: unknown): boolean {
  const told = toMachineError(error);
  return told instanceof AppError && machineFaults.includes(told.code);
}

/** Faults of the machine by their code, which the owner of the subject may see. */
function failureText(error: unknown): string {
  const told = toMachineError(error);
  if (told instanceof AppError && told.kind === 'unavailable') return told.code;
  return messageOf(error).slice(0, maxFailureLength);
}
