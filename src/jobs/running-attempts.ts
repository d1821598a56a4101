import type { Clock } from '../shared/clock.ts';
import { AppError, messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import type { Transaction } from '../store/connection.ts';
import type { JobKind } from './job.ts';
import type { ClaimedJob, JobClaimStore } from './job-claims.store.ts';
import { idsOf, type JobAttempt } from './job-outcomes.ts';
import type { StoredJob } from './job-rows.ts';
import { ParseGate } from './parse-gate.ts';

const saveProgressEveryMs = 1_000;
const lost = 'The job was removed while it ran, or another server runs it.';

export interface RunningAttempt extends JobAttempt {
  readonly job: ClaimedJob;
  progressPercent: number;
  progressSavedAtMs: number;
  isCancelled: boolean;
  /** True when its work has ended, and its outcome is being recorded. */
  isOver: boolean;
  readonly ended: PromiseWithResolvers<void>;
}

/** The jobs that this node runs, and those that it is claiming. */
export class RunningAttempts {
  readonly #claims: JobClaimStore;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #attempts = new Set<RunningAttempt>();
  readonly #parsing = new ParseGate();
  #claiming = 0;
  /** Removed while a claim, which may have been that of the job, was not answered yet. */
  readonly #removedIds = new Set<number>();
  /** Subjects that were discarded while a claim was not answered yet. */
  readonly #pausedSubjects = new Set<string>();

  constructor(claims: JobClaimStore, clock: Clock, log: Logger) {
    this.#claims = claims;
    this.#clock = clock;
    this.#log = log;
  }

  get all(): readonly RunningAttempt[] {
    return [...this.#attempts];
  }

  get size(): number {
    return this.#attempts.size;
  }

  get isClaiming(): boolean {
    return this.#claiming > 0;
  }

  ofSubject(subjectId: string): RunningAttempt[] {
    return this.all.filter(({ job }) => job.subjectId === subjectId);
  }

  /** Lists what `claim` claims, and aborts it when the job was removed meanwhile. */
  async begin(
    claim: () => Promise<ClaimedJob | undefined>,
    kindOf: (job: StoredJob) => JobKind,
  ): Promise<RunningAttempt | undefined> {
    this.#claiming += 1;
    try {
      const job = await claim();
      if (job === undefined) return undefined;
      const attempt: RunningAttempt = {
        job,
        kind: kindOf(job),
        number: job.attempts + 1,
        controller: new AbortController(),
        startedAtMs: this.#clock.monotonicMs(),
        progressPercent: 0,
        progressSavedAtMs: Number.NEGATIVE_INFINITY,
        isCancelled: false,
        isOver: false,
        ended: Promise.withResolvers(),
      };
      this.#attempts.add(attempt);
      if (this.#removedIds.has(job.id)) this.#cancel(attempt, 'The job was cancelled.');
      if (this.#pausedSubjects.has(job.subjectId)) attempt.controller.abort(pausedError());
      return attempt;
    } finally {
      this.#claiming -= 1;
      if (this.#claiming === 0) {
        this.#removedIds.clear();
        this.#pausedSubjects.clear();
      }
    }
  }

  /** Resolves when none of the subject that was cancelled runs here any more. */
  async awaitCancelled(subjectId: string): Promise<void> {
    const attempts = this.ofSubject(subjectId).filter(({ isCancelled }) => isCancelled);
    await Promise.all(attempts.map(({ ended }) => ended.promise));
  }

  end(attempt: RunningAttempt): void {
    this.#attempts.delete(attempt);
    attempt.ended.resolve();
  }

  /** The jobs were removed. */
  cancel(ids: ReadonlySet<number>): void {
    if (this.#claiming > 0) for (const id of ids) this.#removedIds.add(id);
    for (const attempt of this.#attempts) {
      if (ids.has(attempt.job.id)) this.#cancel(attempt, 'The job was cancelled.');
    }
  }

  /** Stops the jobs of a subject. They run again once it is restored, without counting an attempt. */
  pause(subjectId: string): void {
    if (this.#claiming > 0) this.#pausedSubjects.add(subjectId);
    for (const { controller } of this.ofSubject(subjectId)) controller.abort(pausedError());
  }

  /** Aborts all attempts. They run again, here or on another node, without counting an attempt. */
  abort(reason: unknown): void {
    for (const { controller } of this.#attempts) controller.abort(reason);
  }

  /** Cancels those that were removed, or that another node runs now, and pauses those of discarded videos. */
  async renewLeases(): Promise<void> {
    const attempts = this.all.filter(({ isOver }) => !isOver);
    if (attempts.length === 0) return;
    const renewed = await this.#claims.renewLeases(attempts.map(({ job }) => job.id));
    for (const attempt of attempts) {
      const { job, number, isOver, isCancelled } = attempt;
      if (isOver || isCancelled) continue;
      const lease = renewed.find(one => one.id === job.id && one.attempt === number);
      if (lease === undefined) this.#cancel(attempt, lost);
      else if (lease.isPaused) attempt.controller.abort(pausedError());
    }
  }

  /** @throws AppError `stopped` */
  async ensureOwned(attempt: RunningAttempt, transaction: Transaction): Promise<void> {
    const { job, number, controller } = attempt;
    if (await this.#claims.holds({ id: job.id, attempt: number }, transaction)) return;
    this.#cancel(attempt, lost);
    throw controller.signal.reason;
  }

  parse<Result>({ job, number, controller }: RunningAttempt, work: () => Promise<Result>): Promise<Result> {
    const claim = { id: job.id, attempt: number };
    return this.#parsing.run({ isAlone: job.isSuspect, signal: controller.signal }, async () => {
      await this.#claims.beginParsing(claim);
      try {
        return await work();
      } finally {
        await this.#claims.endParsing(claim);
      }
    });
  }

  reportProgress(attempt: RunningAttempt, percent: number): void {
    const whole = Math.floor(Math.min(100, Math.max(0, percent)));
    const nowMs = this.#clock.monotonicMs();
    if (Number.isNaN(whole) || whole === attempt.progressPercent) return;
    if (nowMs - attempt.progressSavedAtMs < saveProgressEveryMs) return;
    attempt.progressPercent = whole;
    attempt.progressSavedAtMs = nowMs;
    const { job, number } = attempt;
    this.#claims
      .setProgress({ id: job.id, attempt: number }, whole)
      .catch((error: unknown) =>
        this.#log.warn('job-progress-not-saved', { ...idsOf(job), error: messageOf(error) }),
      );
  }

  #cancel(attempt: RunningAttempt, reason: string): void {
    attempt.isCancelled = true;
    attempt.controller.abort(new AppError('stopped', reason));
  }
}

function pausedError(): AppError {
  return new AppError('stopped', 'The video is in the trash.');
}
