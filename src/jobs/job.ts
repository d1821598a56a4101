/** A durable unit of work. It may run more than once, for example again after a crash. */
export interface NewJob {
  /** Name of a registered {@link JobKind}. */
  readonly kind: string;
  /** Id of the video or other resource that the job belongs to. A subject's jobs are cancelled together. */
  readonly subjectId: string;
  /** Any JSON value, passed to the kind's `run`. */
  readonly payload?: unknown;
  /** Jobs with a higher priority run first. Default 0. */
  readonly priority?: number;
  /** Such as a project's id. Lanes with a `maxPerGroup` share their capacity among groups. */
  readonly groupId?: string;
}

/** Maximum number of jobs of a lane that run at once: in total, and per group. */
export interface LaneLimits {
  readonly maxRunning: number;
  readonly maxPerGroup: number;
}

/** A job during one attempt. */
export interface RunningJob {
  readonly id: number;
  readonly kind: string;
  readonly subjectId: string;
  readonly payload: unknown;
  /** Counted from 1. */
  readonly attempt: number;
  /** Aborts when the job is cancelled, its row is removed, or the server stops. */
  readonly signal: AbortSignal;
  /** Stores progress from 0 to 100, at most once a second. */
  reportProgress(percent: number): void;
}

/** One kind of job: its name, its lane and the code that runs it. */
export interface JobKind {
  readonly kind: string;
  /** Kinds in the same lane share its limit of concurrent jobs. */
  readonly lane: string;
  readonly maxAttempts: number;
  /**
   * Runs the job. It must tolerate work that an interrupted attempt has already done. An AppError of kind `invalid` fails the job
   * for good; any other error is retried.
   */
  run(job: RunningJob): Promise<void>;
  /** Records the consequences of a failed job, in the transaction that marks it as failed. */
  onGiveUp?(job: NewJob, error: unknown): void;
}

/** The part of the queue that producers of jobs use. */
export interface JobQueue {
  /** Adds a job, in the caller's transaction if there is one. It starts after the commit. */
  add(job: NewJob): void;
  /** Returns true while a job of this kind waits or runs for the subject. */
  has(kind: string, subjectId: string): boolean;
  /** Removes the subject's jobs and aborts those that run. Resolves when none runs any more. */
  cancel(subjectId: string): Promise<void>;
}
