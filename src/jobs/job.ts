import type { Connection, Transaction } from '../store/connection.ts';

export interface NewJob {
  readonly kind: string;
  /** Id of the video or other resource. A subject's jobs are cancelled together. */
  readonly subjectId: string;
  readonly payload?: unknown;
  /** Higher runs first. Default 0. */
  readonly priority?: number;
  /** Group such as a project's id. Lanes with a `maxPerGroup` share their capacity among groups. */
  readonly groupId?: string | undefined;
}

export interface LaneLimits {
  readonly maxRunning: number;
  readonly maxPerGroup: number;
  /** Ascending priorities. Each lets one more job run at once, if it has this priority or a higher one. */
  readonly reservedPriorities?: readonly number[];
}

export interface RunningJob {
  readonly id: number;
  readonly kind: string;
  readonly subjectId: string;
  readonly payload: unknown;
  /** Counted from 1. */
  readonly attempt: number;
  /** Aborts when the job is cancelled, its row is removed, or the server stops. */
  readonly signal: AbortSignal;
  /** 0 to 100. Stored at most once a second. */
  reportProgress(percent: number): void;
  /**
   * Runs work that reads a file of others in this process, which the file may end. A job that ended it is the only one to
   * parse next time, and fails when it ends the process again and again. Work on our own files needs none of this.
   */
  parse<Result>(work: () => Promise<Result>): Promise<Result>;
  /**
   * Call it first in each transaction that names results. Until the transaction ends, no other node takes the job over.
   * @throws AppError `stopped` when the job was removed, or another node took it over while this one was paused
   */
  ensureOwned(transaction: Transaction): Promise<void>;
}

export interface JobKind {
  readonly kind: string;
  readonly lane: string;
  readonly maxAttempts: number;
  /** May run again after a crash. An AppError of kind `invalid` is final; other errors are retried. */
  run(job: RunningJob): Promise<void>;
  /** Runs in the transaction that marks the job as failed. */
  onGiveUp?(job: NewJob, error: unknown, transaction: Transaction): Promise<void>;
}

export interface JobQueue {
  /** The job starts after the commit. */
  add(job: NewJob, connection?: Connection): Promise<void>;
  has(kind: string, subjectId: string, connection?: Connection): Promise<boolean>;
  /** Call this when a video is moved to the trash, where its jobs wait: ends those that run, without counting an attempt. */
  pauseDiscarded(subjectId: string, transaction: Transaction): Promise<void>;
  /** Call this when a video is restored from the trash. */
  resumeRestored(transaction: Transaction): Promise<void>;
  /** Removes the subject's jobs, or those of a kind, and aborts running ones after the commit. */
  remove(subjectId: string, transaction: Transaction, kind?: string): Promise<void>;
  /** Resolves when no removed job of the subject runs any more. A job must not await this for its own subject. */
  awaitRemoved(subjectId: string): Promise<void>;
  /** Removes the subject's jobs and aborts running ones. Resolves when none runs any more. */
  cancel(subjectId: string): Promise<void>;
}
