import { type Clock, systemClock } from '../shared/clock.ts';
import { AppError, messageOf } from '../shared/errors.ts';
import type { Component } from '../shared/lifecycle.ts';
import type { Logger } from '../shared/logger.ts';
import { CoalescedTask } from '../shared/scheduling/coalesced-task.ts';
import { OnDemandInterval } from '../shared/scheduling/on-demand-interval.ts';
import type { Connection, Transaction } from '../store/connection.ts';
import type { Database } from '../store/database.ts';
import { type JobCounts, JobStore, type StoredJob, zeroCounts } from './job.store.ts';
import type { JobKind, JobQueue, LaneLimits, NewJob } from './job.ts';
import {
  type AttemptFailure,
  databaseRetryMs,
  idsOf,
  type JobAttempt,
  JobOutcomes,
  type JobsObserver,
} from './job-outcomes.ts';

export interface JobsOptions {
  readonly database: Database;
  readonly kinds?: readonly JobKind[];
  /** In lanes with {@link LaneLimits}, the group with the fewest running jobs goes first. */
  readonly lanes: Readonly<Record<string, number | LaneLimits>>;
  /** A job fails when the process died this often while it ran. Default 2. */
  readonly maxCrashes?: number;
  readonly clock?: Clock;
  readonly log: Logger;
  readonly observer?: JobsObserver;
}

const leaseMs = 60_000;
const renewLeasesEveryMs = 20_000;
const saveProgressEveryMs = 1_000;
const keepFailedMs = 7 * 24 * 3_600_000;
const removeFailedEveryMs = 3_600_000;
/** Also bounds how late a job starts after the system clock was set forward. */
const maxSleepMs = 60_000;
/** Between starts of jobs that ran when the process died: only the one that ends it again counts a crash. */
const crashTrialMs = 60_000;

interface RunningAttempt extends JobAttempt {
  job: StoredJob;
  number: number;
  progressPercent: number;
  progressSavedAtMs: number;
  isCancelled: boolean;
  /** Its work has ended, and its outcome is being recorded. */
  isOver: boolean;
  readonly ended: PromiseWithResolvers<void>;
}

/**
 * Durable queue of work that takes longer than a request. A job's row is removed when it succeeds. A running
 * job holds a lease on its row, and is aborted if the row disappears. One process owns the data folder, so a
 * start releases all former leases.
 */
export class Jobs implements Component, JobQueue {
  readonly name = 'jobs';
  readonly #store: JobStore;
  readonly #outcomes: JobOutcomes;
  readonly #kinds = new Map<string, JobKind>();
  readonly #lanes: ReadonlyMap<string, number | LaneLimits>;
  readonly #maxCrashes: number;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #running = new Map<number, RunningAttempt>();
  readonly #stopping = new AbortController();
  #state: 'new' | 'started' | 'draining' | 'stopped' = 'new';
  readonly #starting = new CoalescedTask(() => this.#startDue());
  #wakeTimer: NodeJS.Timeout | undefined;
  readonly #maintenance = new OnDemandInterval(renewLeasesEveryMs, () => {
    this.#maintaining ??= this.#maintain().finally(() => {
      this.#maintaining = undefined;
    });
    return this.#running.size > 0;
  });
  #maintaining: Promise<void> | undefined;
  #failedRemovedAtMs = 0;

  constructor({ database, lanes, log, observer, ...options }: JobsOptions) {
    this.#store = new JobStore(database);
    this.#lanes = new Map(Object.entries(lanes));
    this.#maxCrashes = options.maxCrashes ?? 2;
    this.#clock = options.clock ?? systemClock;
    this.#log = log.child('jobs');
    this.#outcomes = new JobOutcomes({
      ...{ store: this.#store, database, clock: this.#clock, log: this.#log, observer },
    });
    for (const kind of options.kinds ?? []) this.register(kind);
  }

  /** @throws AppError `server-error` when the name is taken, the lane is unknown, or the queue has started */
  register(kind: JobKind): void {
    if (this.#state !== 'new') {
      throw new AppError('server-error', 'Job kinds must be registered before the start.');
    }
    if (this.#kinds.has(kind.kind)) {
      throw new AppError('server-error', `The job kind ${kind.kind} is already registered.`);
    }
    if (!this.#lanes.has(kind.lane)) {
      throw new AppError('server-error', `The job kind ${kind.kind} has an unknown lane: ${kind.lane}.`);
    }
    this.#kinds.set(kind.kind, kind);
  }

  async start(): Promise<void> {
    const nowMs = this.#clock.nowMs();
    await this.#failUnknownKinds(nowMs);
    for (const { kind, lane } of this.#kinds.values()) await this.#store.moveKind(kind, lane);
    for (const job of await this.#store.releaseLeases(nowMs)) await this.#recoverCrashed(job);
    await this.#removeFailed(nowMs);
    this.#state = 'started';
    this.#schedule();
  }

  /** Starts no more jobs. A shutdown does not wait for running ones: they are durable. */
  async drain(): Promise<void> {
    if (this.#state === 'started') this.#state = 'draining';
    this.#clearTimers();
    await this.#starting.idle();
  }

  /** Aborted jobs run again after the next start, without counting an attempt. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#clearTimers();
    this.#maintenance.stop();
    this.#stopping.abort(new AppError('stopped', 'The server stops.'));
    for (const { controller } of this.#running.values()) controller.abort(this.#stopping.signal.reason);
    await Promise.all([this.#starting.idle(), this.#maintaining]);
    await Promise.all([...this.#running.values()].map(({ ended }) => ended.promise));
  }

  async add(job: NewJob, connection?: Connection): Promise<void> {
    const kind = this.#kinds.get(job.kind);
    if (kind === undefined) throw new AppError('server-error', `The job kind ${job.kind} is not registered.`);
    await this.#store.add(job, kind.lane, this.#clock.nowMs(), connection);
    if (connection === undefined) this.#schedule();
    else connection.afterCommit(() => this.#schedule());
  }

  has(kind: string, subjectId: string, connection?: Connection): Promise<boolean> {
    return this.#store.has(kind, subjectId, connection);
  }

  async remove(subjectId: string, transaction: Transaction): Promise<void> {
    const removed = await this.#store.removeSubject(subjectId, transaction);
    transaction.afterCommit(() => this.#cancelAttempts(removed));
  }

  async cancel(subjectId: string): Promise<void> {
    this.#cancelAttempts(await this.#store.removeSubject(subjectId));
    await this.awaitRemoved(subjectId);
  }

  async awaitRemoved(subjectId: string): Promise<void> {
    const attempts = [...this.#running.values()].filter(
      ({ job, isCancelled }) => isCancelled && job.subjectId === subjectId,
    );
    await Promise.all(attempts.map(({ ended }) => ended.promise));
  }

  async counts(): Promise<Readonly<Record<string, JobCounts>>> {
    const counts = await this.#store.counts();
    return Object.fromEntries([...this.#lanes.keys()].map(lane => [lane, counts.get(lane) ?? zeroCounts]));
  }

  #schedule(): void {
    if (this.#state === 'started') this.#starting.request();
  }

  async #startDue(): Promise<void> {
    try {
      await this.#fillLanes();
    } catch (error) {
      this.#log.error('jobs-not-started', { error });
      this.#wakeAfter(databaseRetryMs);
    }
  }

  async #fillLanes(): Promise<void> {
    const nowMs = this.#clock.nowMs();
    let nextAtMs = Number.POSITIVE_INFINITY;
    for (const [lane, limits] of this.#lanes) {
      if (!(await this.#fillLane(lane, limits, nowMs))) continue;
      nextAtMs = Math.min(nextAtMs, (await this.#store.nextDueAtMs(lane, nowMs)) ?? nextAtMs);
    }
    nextAtMs = Math.min(nextAtMs, nowMs + this.#crashTrialLeftMs());
    clearTimeout(this.#wakeTimer);
    if (nextAtMs !== Number.POSITIVE_INFINITY) this.#wakeAfter(nextAtMs - nowMs);
  }

  /** Returns false when the lane was full already. */
  async #fillLane(lane: string, limits: number | LaneLimits, nowMs: number): Promise<boolean> {
    const running = [...this.#running.values()].filter(({ kind }) => kind.lane === lane);
    const maxRunning = typeof limits === 'number' ? limits : limits.maxRunning;
    if (running.length >= maxRunning) return false;
    const runningByGroup = new Map<string | undefined, number>();
    const count = ({ groupId }: StoredJob) =>
      runningByGroup.set(groupId, (runningByGroup.get(groupId) ?? 0) + 1);
    for (const { job } of running) count(job);
    for (let free = maxRunning - running.length; free > 0; free--) {
      const next =
        typeof limits === 'number'
          ? await this.#store.nextDue({ lane, nowMs, maxCrashes: this.#allowedCrashes() })
          : await this.#nextOfGroups(lane, limits.maxPerGroup, runningByGroup, nowMs);
      if (next === undefined || this.#state !== 'started') break;
      if (await this.#begin(next, nowMs)) count(next);
    }
    return true;
  }

  /** Picks from the group with the fewest running jobs. Leaves out groups at their limit. */
  async #nextOfGroups(
    lane: string,
    maxPerGroup: number,
    runningByGroup: ReadonlyMap<string | undefined, number>,
    nowMs: number,
  ): Promise<StoredJob | undefined> {
    const runningOf = ({ groupId }: StoredJob) => runningByGroup.get(groupId) ?? 0;
    // The sort is stable: among groups with the same number of running jobs, priority and age decide.
    const due = await this.#store.nextDueByGroup({ lane, nowMs, maxCrashes: this.#allowedCrashes() });
    const [next] = due
      .filter(job => runningOf(job) < maxPerGroup)
      .sort((one, other) => runningOf(one) - runningOf(other));
    return next;
  }

  #allowedCrashes(): number {
    // Outside a trial no limit: a job exceeds `maxCrashes` only when the setting was lowered, and must not
    // wait forever.
    return this.#crashTrialLeftMs() === Number.POSITIVE_INFINITY ? Number.MAX_SAFE_INTEGER : 0;
  }

  /** Infinity when no crashed job is on trial. */
  #crashTrialLeftMs(): number {
    const nowMs = this.#clock.monotonicMs();
    const left = [...this.#running.values()]
      .filter(({ job }) => job.crashes > 0)
      .map(({ startedAtMs }) => startedAtMs + crashTrialMs - nowMs)
      .filter(leftMs => leftMs > 0);
    return left.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...left);
  }

  #wakeAfter(delayMs: number): void {
    clearTimeout(this.#wakeTimer);
    if (this.#state !== 'started') return;
    this.#wakeTimer = setTimeout(() => this.#schedule(), Math.min(Math.max(delayMs, 1), maxSleepMs));
  }

  /** Returns false when the job no longer waits. */
  async #begin(job: StoredJob, nowMs: number): Promise<boolean> {
    const kind = this.#kinds.get(job.kind);
    // The outcome of its last attempt is stored before that attempt leaves the list.
    if (kind === undefined || this.#running.has(job.id)) return false;
    const attempt: RunningAttempt = {
      job,
      kind,
      number: job.attempts + 1,
      controller: new AbortController(),
      startedAtMs: this.#clock.monotonicMs(),
      progressPercent: 0,
      progressSavedAtMs: Number.NEGATIVE_INFINITY,
      isCancelled: false,
      isOver: false,
      ended: Promise.withResolvers(),
    };
    // Listed before it is claimed, so that whoever removes the job meanwhile aborts the attempt.
    this.#running.set(job.id, attempt);
    const claimed = await this.#store.claim(job.id, nowMs + leaseMs).catch((error: unknown) => {
      this.#end(attempt);
      throw error;
    });
    if (claimed === undefined) {
      this.#end(attempt);
      this.#schedule();
      return false;
    }
    attempt.job = claimed;
    attempt.number = claimed.attempts + 1;
    this.#maintenance.wake();
    void this.#run(attempt);
    return true;
  }

  /** Occupies the lane until the outcome is recorded. */
  async #run(attempt: RunningAttempt): Promise<void> {
    const { job, kind, number, controller } = attempt;
    this.#log.debug('job-started', { ...idsOf(job), attempt: number });
    let failure: AttemptFailure | undefined;
    try {
      controller.signal.throwIfAborted();
      // Both may write the same files.
      await this.awaitRemoved(job.subjectId);
      controller.signal.throwIfAborted();
      await kind.run({
        ...{ id: job.id, kind: job.kind, subjectId: job.subjectId, payload: job.payload },
        ...{ attempt: number, signal: controller.signal },
        reportProgress: percent => this.#reportProgress(attempt, percent),
      });
    } catch (error) {
      failure = { error };
    }
    attempt.isOver = true;
    await this.#outcomes.record(attempt, failure, this.#stopping.signal);
    this.#end(attempt);
    this.#schedule();
  }

  #end({ job, ended }: RunningAttempt): void {
    this.#running.delete(job.id);
    ended.resolve();
  }

  #cancelAttempts(ids: ReadonlySet<number>): void {
    for (const attempt of this.#running.values()) {
      if (ids.has(attempt.job.id)) cancelAttempt(attempt, 'The job was cancelled.');
    }
  }

  async #recoverCrashed(job: StoredJob): Promise<void> {
    const kind = this.#kinds.get(job.kind);
    this.#log.info('job-interrupted', { ...idsOf(job), attempts: job.attempts, crashes: job.crashes });
    if (kind !== undefined && job.crashes >= this.#maxCrashes) {
      await this.#outcomes.failCrashed(job, kind);
    }
  }

  async #failUnknownKinds(nowMs: number): Promise<void> {
    for (const kind of await this.#store.kinds()) {
      if (this.#kinds.has(kind)) continue;
      const jobs = await this.#store.failKind(kind, `This server has no jobs of the kind ${kind}.`, nowMs);
      this.#log.error('job-kind-unknown', { kind, jobs });
    }
  }

  #reportProgress(attempt: RunningAttempt, percent: number): void {
    const whole = Math.floor(Math.min(100, Math.max(0, percent)));
    const nowMs = this.#clock.monotonicMs();
    if (Number.isNaN(whole) || whole === attempt.progressPercent) return;
    if (nowMs - attempt.progressSavedAtMs < saveProgressEveryMs) return;
    attempt.progressPercent = whole;
    attempt.progressSavedAtMs = nowMs;
    this.#store
      .setProgress(attempt.job.id, whole)
      .catch((error: unknown) =>
        this.#log.warn('job-progress-not-saved', { ...idsOf(attempt.job), error: messageOf(error) }),
      );
  }

  /** Renews leases and removes old failed jobs. */
  async #maintain(): Promise<void> {
    try {
      await this.#renewLeases();
    } catch (error) {
      this.#log.warn('job-leases-not-renewed', { error: messageOf(error) });
    }
    try {
      await this.#removeFailed(this.#clock.nowMs());
    } catch (error) {
      this.#log.warn('failed-jobs-not-removed', { error: messageOf(error) });
    }
  }

  async #renewLeases(): Promise<void> {
    const attempts = [...this.#running.values()].filter(({ isCancelled, isOver }) => !isCancelled && !isOver);
    if (attempts.length === 0) return;
    const ids = attempts.map(({ job }) => job.id);
    const renewed = await this.#store.renewLeases(ids, this.#clock.nowMs() + leaseMs);
    for (const attempt of attempts) {
      if (attempt.isOver || renewed.has(attempt.job.id)) continue;
      cancelAttempt(attempt, 'The job was removed while it ran.');
    }
  }

  async #removeFailed(nowMs: number): Promise<void> {
    if (Math.abs(nowMs - this.#failedRemovedAtMs) < removeFailedEveryMs) return;
    this.#failedRemovedAtMs = nowMs;
    await this.#store.removeFailedBefore(nowMs - keepFailedMs);
  }

  #clearTimers(): void {
    this.#starting.cancel();
    clearTimeout(this.#wakeTimer);
  }
}

function cancelAttempt(attempt: RunningAttempt, reason: string): void {
  attempt.isCancelled = true;
  attempt.controller.abort(new AppError('stopped', reason));
}
