import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, systemClock } from '../shared/clock.ts';
import { AppError, errorRegister, messageOf } from '../shared/errors.ts';
import type { Component } from '../shared/lifecycle.ts';
import type { Logger } from '../shared/logger.ts';
import { CoalescedTask } from '../shared/scheduling/coalesced-task.ts';
import { OnDemandInterval } from '../shared/scheduling/on-demand-interval.ts';
import type { Connection, Transaction } from '../store/connection.ts';
import type { Database } from '../store/database.ts';
import { type JobCounts, JobStore, zeroCounts } from './job.store.ts';
import type { JobKind, JobQueue, LaneLimits, NewJob } from './job.ts';
import { JobClaimStore } from './job-claims.store.ts';
import { type ClaimJob, JobLanes } from './job-lanes.ts';
import {
  type AttemptFailure,
  databaseRetryMs,
  idsOf,
  JobOutcomes,
  type JobsObserver,
} from './job-outcomes.ts';
import { type JobOwner, onlyOwner } from './job-owner.ts';
import { JobRecovery } from './job-recovery.ts';
import type { StoredJob } from './job-rows.ts';
import { type RunningAttempt, RunningAttempts } from './running-attempts.ts';

export interface JobsOptions {
  readonly database: Database;
  readonly kinds?: readonly JobKind[];
  /**
   * Limits of this node: processors are its own. In lanes with {@link LaneLimits}, the group with the fewest running jobs on
   * this node goes first.
   */
  readonly lanes: Readonly<Record<string, number | LaneLimits>>;
  /** A job fails when the process died this often in a row while only this job parsed a file. Default 2. */
  readonly maxCrashes?: number;
  /** Time without renewal after which another node starts a job again. Default 60 s. */
  readonly leaseMs?: number;
  /** Default: one server uses the database. */
  readonly owner?: JobOwner;
  /** False for a node that adds jobs, but runs none. Default true. */
  readonly isWorker?: boolean;
  readonly clock?: Clock;
  readonly log: Logger;
  readonly observer?: JobsObserver;
  /** Fault of the machine: jobs wait for its end, and it never fails them. */
  readonly findFault?: () => string | undefined;
}

const defaultLeaseMs = 60_000;
const renewalsPerLease = 3;
/** Jobs that other nodes add are started at once by a signal; this is for signals that were lost. */
const pollEveryMs = 5_000;
/** Time after the last possible renewal until another node that no longer answers has lost its jobs. */
const awaitRemovedBeyondLeaseMs = 15_000;
const awaitRemovedEveryMs = 1_000;
const keepFailedMs = 7 * 24 * 3_600_000;
const removeFailedEveryMs = 3_600_000;
/** Maximum sleep, which also bounds how late a job starts after the system clock was set forward. */
const maxSleepMs = 60_000;

/**
 * Durable queue of work that takes longer than a request. A job's row is removed when it succeeds. A running
 * job holds a lease on its row, and is aborted if the row disappears. Nodes that share the database claim jobs from
 * each other's queues. An outcome is recorded only while the row belongs to the attempt.
 */
export class Jobs implements Component, JobQueue {
  readonly name = 'jobs';
  readonly #database: Database;
  readonly #store: JobStore;
  readonly #claims: JobClaimStore;
  readonly #outcomes: JobOutcomes;
  readonly #recovery: JobRecovery;
  readonly #running: RunningAttempts;
  readonly #owner: JobOwner;
  readonly #isWorker: boolean;
  readonly #kinds = new Map<string, JobKind>();
  readonly #lanes: JobLanes;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #findFault: () => string | undefined;
  readonly #stopping = new AbortController();
  #state: 'new' | 'started' | 'draining' | 'stopped' = 'new';
  readonly #starting = new CoalescedTask(() => this.#startDue());
  #wakeTimer: NodeJS.Timeout | undefined;
  readonly #leaseMs: number;
  readonly #maintenance: OnDemandInterval;
  readonly #poll = new OnDemandInterval(pollEveryMs, () => {
    this.#schedule();
    return true;
  });
  #maintaining: Promise<void> | undefined;
  #failedRemovedAtMs = 0;
  readonly #stopListening: (() => void)[] = [];

  constructor({ database, lanes, log, observer, ...options }: JobsOptions) {
    const { owner = onlyOwner, maxCrashes = 2, leaseMs = defaultLeaseMs, clock = systemClock } = options;
    this.#findFault = options.findFault ?? (() => undefined);
    this.#leaseMs = leaseMs;
    this.#maintenance = new OnDemandInterval(leaseMs / renewalsPerLease, () => {
      this.#maintaining ??= this.#maintain().finally(() => {
        this.#maintaining = undefined;
      });
      return this.#running.size > 0 || this.#isShared;
    });
    this.#database = database;
    this.#owner = owner;
    this.#isWorker = options.isWorker ?? true;
    this.#clock = clock;
    this.#log = log.child('jobs');
    this.#store = new JobStore(database, clock, owner.id);
    this.#claims = new JobClaimStore({
      database,
      clock,
      leaseMs,
      nodeId: owner.id,
      kinds: () => [...this.#kinds.keys()],
      lanes: Object.keys(lanes),
    });
    this.#running = new RunningAttempts(this.#claims, clock, this.#log);
    this.#lanes = new JobLanes({ limits: lanes, claims: this.#claims, running: this.#running, clock });
    this.#outcomes = new JobOutcomes({
      claims: this.#claims,
      database,
      clock,
      log: this.#log,
      observer,
    });
    this.#recovery = new JobRecovery({
      database,
      clock,
      maxCrashes,
      owner,
      log: this.#log,
      maxAttempts: ({ kind }) => this.#kinds.get(kind)?.maxAttempts ?? Number.POSITIVE_INFINITY,
      failCrashed: async (job, times) => {
        const kind = this.#kinds.get(job.kind);
        if (kind !== undefined) await this.#outcomes.failCrashed(job, kind, times);
      },
    });
    for (const kind of options.kinds ?? []) this.register(kind);
    owner.onExpired(async nodeId => {
      await this.#recovery.releaseGone(nodeId);
      this.#schedule();
    });
    owner.onLeaseLost(() => this.#running.abort(new AppError('stopped', 'This server lost its lease.')));
  }

  /** @throws AppError `server-error` when the name is taken, the lane is unknown, or the queue has started */
  register(kind: JobKind): void {
    if (this.#state !== 'new') {
      throw new AppError('server-error', 'Job kinds must be registered before the start.');
    }
    if (this.#kinds.has(kind.kind)) {
      throw new AppError('server-error', `The job kind ${kind.kind} is already registered.`);
    }
    if (!this.#lanes.names.includes(kind.lane)) {
      throw new AppError('server-error', `The job kind ${kind.kind} has an unknown lane: ${kind.lane}.`);
    }
    this.#kinds.set(kind.kind, kind);
  }

  async start(): Promise<void> {
    // Fails unknown kinds only when alone: other nodes may be of another version, with other kinds and lanes.
    if (await this.#owner.isAlone()) {
      await this.#failUnknownKinds();
      for (const { kind, lane } of this.#kinds.values()) await this.#store.moveKind(kind, lane);
    }
    await this.#recovery.releaseOwn();
    await this.#removeFailed();
    this.#state = 'started';
    const { signals } = this.#database;
    this.#stopListening.push(
      signals.listen('jobs', () => this.#schedule()),
      signals.listen('jobs-removed', subjectId => this.#checkRemoved(subjectId)),
      signals.listen('jobs-paused', subjectId => {
        if (subjectId === undefined) this.#renewLeases();
        else this.#running.pause(subjectId);
      }),
    );
    if (this.#isShared) {
      this.#poll.wake();
      this.#maintenance.wake();
    }
    this.#schedule();
  }

  /** Starts no more jobs. A shutdown does not wait for running ones: they are durable. */
  async drain(): Promise<void> {
    if (this.#state === 'started') this.#state = 'draining';
    this.#clearTimers();
    await this.#starting.idle();
  }

  /** Aborted jobs run again after the next start, or on another node, without counting an attempt. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    for (const stop of this.#stopListening.splice(0)) stop();
    this.#clearTimers();
    this.#maintenance.stop();
    this.#stopping.abort(new AppError('stopped', 'The server is stopping.'));
    this.#running.abort(this.#stopping.signal.reason);
    await Promise.all([this.#starting.idle(), this.#maintaining]);
    await Promise.all(this.#running.all.map(({ ended }) => ended.promise));
  }

  async add(job: NewJob, connection?: Connection): Promise<void> {
    const kind = this.#kinds.get(job.kind);
    if (kind === undefined) throw new AppError('server-error', `The job kind ${job.kind} is not registered.`);
    await this.#store.add(job, kind.lane, connection);
    await this.#database.signals.send('jobs', kind.lane, connection);
  }

  has(kind: string, subjectId: string, connection?: Connection): Promise<boolean> {
    return this.#store.has(kind, subjectId, connection);
  }

  /** The fault of the server for which a job of the subject waits. */
  async delayOf(subjectId: string): Promise<string | undefined> {
    const failure = await this.#store.failureOfWaiting(subjectId);
    const entry =
      failure === undefined ? undefined : Object.entries(errorRegister).find(([code]) => code === failure);
    return entry?.[1].title;
  }

  async remove(subjectId: string, transaction: Transaction, kind?: string): Promise<void> {
    const removed = await this.#store.remove({ subjectId, kind }, transaction);
    transaction.afterCommit(() => this.#running.cancel(removed));
    if (this.#isShared) await this.#database.signals.send('jobs-removed', subjectId, transaction);
  }

  pauseDiscarded(subjectId: string, transaction: Transaction): Promise<void> {
    return this.#database.signals.send('jobs-paused', subjectId, transaction);
  }

  resumeRestored(transaction: Transaction): Promise<void> {
    return this.#database.signals.send('jobs', '', transaction);
  }

  async cancel(subjectId: string): Promise<void> {
    await this.#database.transaction(transaction => this.remove(subjectId, transaction));
    await this.awaitRemoved(subjectId);
  }

  async awaitRemoved(subjectId: string): Promise<void> {
    await this.#running.awaitCancelled(subjectId);
    if (!this.#isShared) return;
    const endMs = this.#clock.monotonicMs() + this.#leaseMs + awaitRemovedBeyondLeaseMs;
    while (await this.#store.isRemovedRunning(subjectId)) {
      if (this.#clock.monotonicMs() > endMs) return;
      await this.#nextRemoval(subjectId);
    }
  }

  /** Jobs that run on this node. */
  get runningCount(): number {
    return this.#running.size;
  }

  async counts(): Promise<Readonly<Record<string, JobCounts>>> {
    const counts = await this.#store.counts();
    return Object.fromEntries(this.#lanes.names.map(lane => [lane, counts.get(lane) ?? zeroCounts]));
  }

  get #isShared(): boolean {
    return this.#database.dialect === 'postgres';
  }

  #schedule(): void {
    if (this.#state === 'started' && this.#isWorker && this.#kinds.size > 0) this.#starting.request();
  }

  /** Ends jobs of the subject that another node removed; without a subject, signals may have been lost. */
  #checkRemoved(subjectId: string | undefined): void {
    if (!this.#isShared) return;
    if (
      subjectId !== undefined &&
      this.#running.ofSubject(subjectId).length === 0 &&
      !this.#running.isClaiming
    )
      return;
    this.#renewLeases();
  }

  #renewLeases(): void {
    this.#running
      .renewLeases()
      .catch((error: unknown) => this.#log.warn('job-leases-not-renewed', { error: messageOf(error) }));
  }

  /** Resolves when a node let go of jobs of the subject, or soon. */
  async #nextRemoval(subjectId: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = this.#database.signals.listen('jobs-removed', id => {
      if (id === undefined || id === subjectId) resolve();
    });
    const { signal } = this.#stopping;
    await Promise.race([promise, sleep(awaitRemovedEveryMs, undefined, { signal })]).finally(stop);
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
    if (!this.#owner.hasLease) return;
    const nextInMs = await this.#lanes.fill(
      () => this.#state === 'started',
      claim => this.#begin(claim),
    );
    clearTimeout(this.#wakeTimer);
    if (nextInMs !== Number.POSITIVE_INFINITY) this.#wakeAfter(nextInMs);
  }

  #wakeAfter(delayMs: number): void {
    clearTimeout(this.#wakeTimer);
    if (this.#state !== 'started') return;
    this.#wakeTimer = setTimeout(() => this.#schedule(), Math.min(Math.max(delayMs, 1), maxSleepMs));
  }

  async #begin(claim: ClaimJob): Promise<StoredJob | undefined> {
    const attempt = await this.#running.begin(claim, job => this.#kinds.get(job.kind)!);
    if (attempt === undefined) return undefined;
    this.#maintenance.wake();
    if (!this.#owner.hasLease)
      attempt.controller.abort(new AppError('stopped', 'This server lost its lease.'));
    if (this.#state === 'stopped') attempt.controller.abort(this.#stopping.signal.reason);
    void this.#run(attempt);
    return attempt.job;
  }

  /** Occupies the lane until the outcome is recorded. */
  async #run(attempt: RunningAttempt): Promise<void> {
    const { job, kind, number, controller } = attempt;
    this.#log.debug('job-started', { ...idsOf(job), attempt: number });
    let failure: AttemptFailure | undefined;
    try {
      controller.signal.throwIfAborted();
      // Waits for the former job: both may write the same files.
      await (job.hasRemoved ? this.awaitRemoved(job.subjectId) : this.#running.awaitCancelled(job.subjectId));
      controller.signal.throwIfAborted();
      const fault = this.#machineFault();
      if (fault !== undefined) throw fault;
      await kind.run({
        id: job.id,
        kind: job.kind,
        subjectId: job.subjectId,
        payload: job.payload,
        attempt: number,
        signal: controller.signal,
        reportProgress: percent => this.#running.reportProgress(attempt, percent),
        parse: work => this.#running.parse(attempt, work),
        ensureOwned: transaction => this.#running.ensureOwned(attempt, transaction),
      });
    } catch (error) {
      failure = { error: this.#machineFault(error) ?? error };
    }
    attempt.isOver = true;
    await this.#outcomes.record(attempt, failure, this.#stopping.signal);
    this.#running.end(attempt);
    if (attempt.isCancelled && this.#isShared) {
      await this.#database.signals.send('jobs-removed', job.subjectId);
    }
    this.#schedule();
  }

  #machineFault(cause?: unknown): AppError | undefined {
    const fault = this.#findFault();
    return fault === undefined ? undefined : new AppError('data-dir-unusable', fault, { cause });
  }

  async #failUnknownKinds(): Promise<void> {
    for (const kind of await this.#store.kinds()) {
      if (this.#kinds.has(kind)) continue;
      const jobs = await this.#store.failKind(kind, `This server has no jobs of the kind ${kind}.`);
      this.#log.error('job-kind-unknown', { kind, jobs });
    }
  }

  /** Renews leases, takes over those that ran out, and removes old failed jobs. */
  async #maintain(): Promise<void> {
    const tasks = {
      'job-leases-not-renewed': () => this.#running.renewLeases(),
      'expired-jobs-not-released': () => this.#releaseExpired(),
      'failed-jobs-not-removed': () => this.#removeFailed(),
    };
    for (const [event, run] of Object.entries(tasks)) {
      try {
        await run();
      } catch (error) {
        this.#log.warn(event, { error: messageOf(error) });
      }
    }
  }

  async #releaseExpired(): Promise<void> {
    if (!this.#isShared || !this.#owner.isSettled) return;
    if (await this.#recovery.releaseExpired()) this.#schedule();
  }

  async #removeFailed(): Promise<void> {
    const nowMs = this.#clock.nowMs();
    if (Math.abs(nowMs - this.#failedRemovedAtMs) < removeFailedEveryMs) return;
    this.#failedRemovedAtMs = nowMs;
    await this.#store.removeFailed(keepFailedMs);
  }

  #clearTimers(): void {
    this.#poll.stop();
    this.#starting.cancel();
    clearTimeout(this.#wakeTimer);
  }
}
