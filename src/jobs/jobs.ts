import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, systemClock } from '../shared/clock.ts';
import { AppError, messageOf } from '../shared/errors.ts';
import type { Component } from '../shared/lifecycle.ts';
import type { Logger } from '../shared/logger.ts';
import { OnDemandInterval } from '../shared/scheduling/on-demand-interval.ts';
import type { Database } from '../store/database.ts';
import { type JobCounts, JobStore, type StoredJob, zeroCounts } from './job.store.ts';
import type { JobKind, JobQueue, LaneLimits, NewJob, RunningJob } from './job.ts';

/** How an attempt ended; one that the server's stop ended is not told of. */
export type JobOutcome = 'done' | 'retried' | 'failed' | 'cancelled';

/** What the queue reports of its work. */
export interface JobsObserver {
  jobEnded(kind: string, outcome: JobOutcome, durationMs: number): void;
}

/** What the queue is made of. */
export interface JobsOptions {
  readonly database: Database;
  /** More can be added with {@link Jobs.register}. */
  readonly kinds?: readonly JobKind[];
  /** Maximum number of jobs of each lane that run at once. Where groups are limited, the one with the fewest running jobs goes first. */
  readonly lanes: Readonly<Record<string, number | LaneLimits>>;
  /** A job during which the process died so often is given up: it may be what ends it. 2 unless given. */
  readonly maxCrashes?: number;
  readonly clock?: Clock;
  readonly log: Logger;
  readonly observer?: JobsObserver;
}

/** How long to wait before the second attempt, the third, ...; the last holds for all that follow. */
export const retryDelaysMs: readonly number[] = [1_000, 5_000, 30_000, 120_000, 600_000];
/** A delay is up to this much longer, so that what failed together is not tried again together. */
const retryJitter = 0.2;
const leaseMs = 60_000;
const leaseRenewedEveryMs = 20_000;
const progressWrittenEveryMs = 1_000;
const failedKeptMs = 7 * 24 * 3_600_000;
const failedRemovedEveryMs = 3_600_000;
/** Also bounds how late a job is when the machine's clock was set forward. */
const maxSleepMs = 60_000;
const databaseRetryMs = 1_000;
/** Jobs that ran when the process died are started one at a time, so much apart: of them, only the one that ends it again is given up. */
const crashTrialMs = 60_000;
const maxFailureLength = 1_000;

interface Attempt {
  readonly job: StoredJob;
  readonly kind: JobKind;
  /** From 1. */
  readonly number: number;
  readonly controller: AbortController;
  readonly startedAtMs: number;
  progressPercent: number;
  progressWrittenAtMs: number;
  isCancelled: boolean;
  ended: Promise<void>;
}

/**
 * The durable queue of what takes longer than a request. A job is a row; it is begun in the order of priority, then age, in one of
 * the places of its lane, and is gone when it was done. What runs holds a lease on its row, so that a row which was
 * removed by another way ends the work; leases of a process that crashed are released at the start, because one process owns the
 * data folder.
 */
export class Jobs implements Component, JobQueue {
  readonly name = 'jobs';
  readonly #store: JobStore;
  readonly #database: Database;
  readonly #kinds = new Map<string, JobKind>();
  readonly #lanes: ReadonlyMap<string, number | LaneLimits>;
  readonly #maxCrashes: number;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #observer: JobsObserver | undefined;
  readonly #running = new Map<number, Attempt>();
  readonly #stopping = new AbortController();
  #state: 'new' | 'started' | 'draining' | 'stopped' = 'new';
  #look: NodeJS.Immediate | undefined;
  #wake: NodeJS.Timeout | undefined;
  readonly #tending = new OnDemandInterval(leaseRenewedEveryMs, () => this.#tend());
  #failedRemovedAtMs = 0;

  constructor(options: JobsOptions) {
    this.#database = options.database;
    this.#store = new JobStore(options.database);
    this.#lanes = new Map(Object.entries(options.lanes));
    this.#maxCrashes = options.maxCrashes ?? 2;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log.child('jobs');
    this.#observer = options.observer;
    for (const kind of options.kinds ?? []) this.register(kind);
  }

  /**
   * Adds a kind, before the start.
   *
   * @throws AppError `server-error` when there is one of that name, its lane is unknown, or the queue runs
   */
  register(kind: JobKind): void {
    if (this.#state !== 'new') throw new AppError('server-error', 'kinds of jobs are added before the start');
    if (this.#kinds.has(kind.kind)) {
      throw new AppError('server-error', `there are two kinds of jobs named ${kind.kind}`);
    }
    if (!this.#lanes.has(kind.lane)) {
      throw new AppError('server-error', `jobs of the kind ${kind.kind} have an unknown lane: ${kind.lane}`);
    }
    this.#kinds.set(kind.kind, kind);
  }

  async start(): Promise<void> {
    const nowMs = this.#clock.nowMs();
    this.#failUnknownKinds(nowMs);
    for (const { kind, lane } of this.#kinds.values()) this.#store.moveKind(kind, lane);
    for (const job of this.#store.releaseLeases(nowMs)) this.#afterCrash(job);
    this.#state = 'started';
    this.#removeFailed(nowMs);
    this.#lookSoon();
  }

  /** Starts nothing new. What runs goes on until {@link stop}: it is durable, so a shutdown does not wait for it. */
  async drain(): Promise<void> {
    if (this.#state === 'started') this.#state = 'draining';
    this.#dropTimers();
  }

  /** Ends what runs; it goes on at the next start, without an attempt counted. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#dropTimers();
    this.#tending.stop();
    this.#stopping.abort(new AppError('stopped', 'The server stops.'));
    for (const { controller } of this.#running.values()) controller.abort(this.#stopping.signal.reason);
    await Promise.all([...this.#running.values()].map(attempt => attempt.ended));
  }

  /** @throws AppError `server-error` when there is no such kind */
  add(job: NewJob): void {
    const kind = this.#kinds.get(job.kind);
    if (kind === undefined) throw new AppError('server-error', `there is no kind of jobs named ${job.kind}`);
    this.#store.add(job, kind.lane, this.#clock.nowMs());
    this.#lookSoon();
  }

  has(kind: string, subjectId: string): boolean {
    return this.#store.has(kind, subjectId);
  }

  /** Not to be awaited by a job of the same subject, which would wait for itself. */
  async cancel(subjectId: string): Promise<void> {
    this.#store.removeSubject(subjectId);
    const attempts = [...this.#running.values()].filter(({ job }) => job.subjectId === subjectId);
    for (const attempt of attempts) {
      attempt.isCancelled = true;
      attempt.controller.abort(new AppError('stopped', 'The job was cancelled.'));
    }
    await Promise.all(attempts.map(attempt => attempt.ended));
  }

  /** How many jobs there are, by lane, every lane named. */
  counts(): Readonly<Record<string, JobCounts>> {
    const counts = this.#store.counts();
    return Object.fromEntries([...this.#lanes.keys()].map(lane => [lane, counts.get(lane) ?? zeroCounts]));
  }

  /** After the caller's transaction, which ends before anything else of this process runs. */
  #lookSoon(): void {
    if (this.#state !== 'started') return;
    this.#look ??= setImmediate(() => {
      this.#look = undefined;
      try {
        this.#startDue();
      } catch (error) {
        this.#log.error('jobs-look-failed', { error });
        this.#wakeAfter(databaseRetryMs);
      }
    });
  }

  #startDue(): void {
    const nowMs = this.#clock.nowMs();
    let nextAtMs = Number.POSITIVE_INFINITY;
    for (const [lane, limits] of this.#lanes) {
      const places = typeof limits === 'number' ? limits : limits.maxRunning;
      const running = [...this.#running.values()].filter(({ kind }) => kind.lane === lane);
      if (running.length >= places) continue;
      if (typeof limits !== 'number') this.#beginFairly(lane, limits, running, nowMs);
      else {
        for (let free = places - running.length; free > 0; free--) {
          const job = this.#store.due(lane, nowMs, this.#crashesAllowed());
          if (job === undefined) break;
          this.#begin(job, nowMs);
        }
      }
      nextAtMs = Math.min(nextAtMs, this.#store.nextDueAtMs(lane, nowMs) ?? nextAtMs);
    }
    nextAtMs = Math.min(nextAtMs, nowMs + this.#trialLeftMs());
    clearTimeout(this.#wake);
    if (nextAtMs !== Number.POSITIVE_INFINITY) this.#wakeAfter(nextAtMs - nowMs);
  }

  /** Crashes that a job may have behind it to be started now. */
  #crashesAllowed(): number {
    // One with more than the maximum waits only where that was lowered since: it must not wait for ever.
    return this.#trialLeftMs() === Number.POSITIVE_INFINITY ? Number.MAX_SAFE_INTEGER : 0;
  }

  /** The time until the next job that ran when the process died may start; infinite where none is on trial. */
  #trialLeftMs(): number {
    const nowMs = this.#clock.monotonicMs();
    const left = [...this.#running.values()]
      .filter(({ job }) => job.crashes > 0)
      .map(({ startedAtMs }) => startedAtMs + crashTrialMs - nowMs)
      .filter(leftMs => leftMs > 0);
    return left.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...left);
  }

  /** Gives each free place to the group with the fewest running jobs, and none to a group that has its share. */
  #beginFairly(
    lane: string,
    { maxRunning, maxPerGroup }: LaneLimits,
    running: readonly Attempt[],
    nowMs: number,
  ): void {
    const runningOf = new Map<string | undefined, number>();
    const count = ({ groupId }: StoredJob) => runningOf.set(groupId, (runningOf.get(groupId) ?? 0) + 1);
    for (const { job } of running) count(job);
    for (let free = maxRunning - running.length; free > 0; free--) {
      const candidates = this.#store
        .firstOfGroups(lane, nowMs, this.#crashesAllowed())
        .map(job => ({ job, running: runningOf.get(job.groupId) ?? 0 }))
        .filter(candidate => candidate.running < maxPerGroup);
      // The sort is stable: among equals, the order of priority and age holds.
      const [next] = candidates.sort((one, other) => one.running - other.running);
      if (next === undefined) return;
      this.#begin(next.job, nowMs);
      count(next.job);
    }
  }

  #wakeAfter(delayMs: number): void {
    clearTimeout(this.#wake);
    this.#wake = setTimeout(() => this.#lookSoon(), Math.min(Math.max(delayMs, 1), maxSleepMs));
  }

  #begin(job: StoredJob, nowMs: number): void {
    const kind = this.#kinds.get(job.kind);
    if (kind === undefined || !this.#store.claim(job.id, nowMs + leaseMs)) return;
    const attempt: Attempt = {
      job,
      kind,
      number: job.attempts + 1,
      controller: new AbortController(),
      startedAtMs: this.#clock.monotonicMs(),
      progressPercent: 0,
      progressWrittenAtMs: Number.NEGATIVE_INFINITY,
      isCancelled: false,
      ended: Promise.resolve(),
    };
    this.#running.set(job.id, attempt);
    this.#tending.wake();
    attempt.ended = this.#attempt(attempt);
  }

  async #attempt(attempt: Attempt): Promise<void> {
    const { job, kind, controller, number } = attempt;
    this.#log.debug('job-started', { ...idsOf(job), attempt: number });
    let failure: { readonly error: unknown } | undefined;
    try {
      await kind.run({
        id: job.id,
        kind: job.kind,
        subjectId: job.subjectId,
        payload: job.payload,
        attempt: number,
        signal: controller.signal,
        reportProgress: percent => this.#reportProgress(attempt, percent),
      } satisfies RunningJob);
    } catch (error) {
      failure = { error };
    }
    await this.#settle(attempt, failure);
    this.#running.delete(job.id);
    this.#lookSoon();
  }

  /** Writes down how an attempt ended, until the database takes it: before, its place in the lane stays taken. */
  async #settle(attempt: Attempt, failure: { readonly error: unknown } | undefined): Promise<void> {
    for (;;) {
      try {
        const outcome = this.#writeOutcome(attempt, failure);
        const durationMs = this.#clock.monotonicMs() - attempt.startedAtMs;
        if (outcome !== undefined) this.#observer?.jobEnded(attempt.kind.kind, outcome, durationMs);
        return;
      } catch (error) {
        this.#log.error('job-outcome-not-written', { ...idsOf(attempt.job), error });
        if (this.#stopping.signal.aborted) return;
        await sleep(databaseRetryMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
      }
    }
  }

  #writeOutcome(attempt: Attempt, failure: { readonly error: unknown } | undefined): JobOutcome | undefined {
    const { job } = attempt;
    const nowMs = this.#clock.nowMs();
    if (attempt.isCancelled) {
      // Changes something only when the transaction that cancelled it was rolled back.
      this.#store.putBack(job.id, nowMs, job.attempts, null);
      this.#log.debug('job-cancelled', idsOf(job));
      return 'cancelled';
    }
    if (failure === undefined) {
      this.#store.remove(job.id);
      this.#log.debug('job-done', idsOf(job));
      return 'done';
    }
    if (attempt.controller.signal.aborted) {
      this.#store.putBack(job.id, nowMs, job.attempts, null);
      this.#log.debug('job-put-back', idsOf(job));
      return undefined;
    }
    const { error } = failure;
    const isFinal = error instanceof AppError && error.kind === 'invalid';
    // A full disk is no fault of the job, and may last until somebody sees it: the last attempt is made again and again.
    const isDiskFull = error instanceof AppError && error.code === 'disk-full';
    if (isFinal || (attempt.number >= attempt.kind.attemptsAtMost && !isDiskFull)) {
      return this.#giveUp(job, attempt.kind, attempt.number, error);
    }
    const delayMs = retryDelayMs(attempt.number);
    const attempts = Math.min(attempt.number, Math.max(1, attempt.kind.attemptsAtMost - 1));
    this.#store.putBack(job.id, nowMs + delayMs, attempts, failureText(error));
    this.#log.warn('job-retried', { ...idsOf(job), attempt: attempt.number, delayMs, error });
    return 'retried';
  }

  #giveUp(job: StoredJob, kind: JobKind, attempts: number, error: unknown): JobOutcome {
    const nowMs = this.#clock.nowMs();
    try {
      this.#database.transaction(() => {
        if (this.#store.fail(job.id, failureText(error), nowMs)) kind.onGiveUp?.(job, error);
      });
    } catch (fault) {
      // Somebody would wait for what follows from the failure for ever: the whole is tried again instead.
      this.#log.error('job-give-up-failed', { ...idsOf(job), error: fault });
      this.#store.putBack(job.id, nowMs + retryDelayMs(retryDelaysMs.length), attempts, failureText(error));
      return 'retried';
    }
    const level = error instanceof AppError ? error.logLevel : 'error';
    this.#log[level]('job-failed', { ...idsOf(job), attempts, error });
    return 'failed';
  }

  #afterCrash(job: StoredJob): void {
    const kind = this.#kinds.get(job.kind);
    this.#log.info('job-interrupted', { ...idsOf(job), attempts: job.attempts, crashes: job.crashes });
    if (kind === undefined || job.crashes < this.#maxCrashes) return;
    const sentence = `The server stopped unexpectedly ${job.crashes} times while it worked on this file.`;
    const detail = `${sentence} Upload it again, or in another format.`;
    const error = new AppError('server-error', sentence, { details: { detail } });
    const outcome = this.#giveUp(job, kind, job.attempts, error);
    this.#observer?.jobEnded(kind.kind, outcome, 0);
  }

  #failUnknownKinds(nowMs: number): void {
    for (const kind of this.#store.kinds()) {
      if (this.#kinds.has(kind)) continue;
      const jobs = this.#store.failKind(kind, `This server knows no jobs of the kind ${kind}.`, nowMs);
      this.#log.error('job-kind-unknown', { kind, jobs });
    }
  }

  #reportProgress(attempt: Attempt, percent: number): void {
    const whole = Math.floor(Math.min(100, Math.max(0, percent)));
    const nowMs = this.#clock.monotonicMs();
    if (Number.isNaN(whole) || whole === attempt.progressPercent) return;
    if (nowMs - attempt.progressWrittenAtMs < progressWrittenEveryMs) return;
    attempt.progressPercent = whole;
    attempt.progressWrittenAtMs = nowMs;
    try {
      this.#store.progress(attempt.job.id, whole);
    } catch (error) {
      this.#log.warn('job-progress-not-written', { ...idsOf(attempt.job), error: messageOf(error) });
    }
  }

  #tend(): boolean {
    this.#renewLeases();
    try {
      this.#removeFailed(this.#clock.nowMs());
    } catch (error) {
      this.#log.warn('failed-jobs-not-removed', { error: messageOf(error) });
    }
    return this.#running.size > 0;
  }

  #renewLeases(): void {
    const leaseUntilMs = this.#clock.nowMs() + leaseMs;
    for (const attempt of this.#running.values()) {
      try {
        if (attempt.isCancelled || this.#store.renewLease(attempt.job.id, leaseUntilMs)) continue;
        attempt.isCancelled = true;
        attempt.controller.abort(new AppError('stopped', 'The job was removed while it ran.'));
      } catch (error) {
        this.#log.warn('job-lease-not-renewed', { ...idsOf(attempt.job), error: messageOf(error) });
      }
    }
  }

  #removeFailed(nowMs: number): void {
    if (Math.abs(nowMs - this.#failedRemovedAtMs) < failedRemovedEveryMs) return;
    this.#failedRemovedAtMs = nowMs;
    this.#store.removeFailedBefore(nowMs - failedKeptMs);
  }

  #dropTimers(): void {
    clearImmediate(this.#look);
    this.#look = undefined;
    clearTimeout(this.#wake);
  }
}

function retryDelayMs(attempt: number): number {
  const delayMs = retryDelaysMs[Math.min(attempt, retryDelaysMs.length) - 1]!;
  return Math.round(delayMs * (1 + Math.random() * retryJitter));
}

function failureText(error: unknown): string {
  return messageOf(error).slice(0, maxFailureLength);
}

function idsOf(job: StoredJob): Readonly<Record<string, unknown>> {
  return { jobId: job.id, kind: job.kind, subjectId: job.subjectId };
}
