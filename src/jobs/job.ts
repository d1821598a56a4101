/** A piece of work to be done, maybe after a crash, maybe more than once. */
export interface NewJob {
  /** Names its {@link JobKind}. */
  readonly kind: string;
  /** Whose it is, such as a video's id: what is cancelled together. */
  readonly subjectId: string;
  /** Anything that JSON holds; read by the kind's `run`. */
  readonly payload?: unknown;
  /** The highest goes first; 0 unless given. */
  readonly priority?: number;
  /** Such as a project's id: groups share the places of a lane that limits them. */
  readonly groupId?: string;
}

/** Maximum number of jobs of a lane that run at once, and of those of one group among them. */
export interface LaneLimits {
  readonly maxRunning: number;
  readonly maxPerGroup: number;
}

/** A job while it runs. */
export interface RunningJob {
  readonly id: number;
  readonly kind: string;
  readonly subjectId: string;
  readonly payload: unknown;
  /** 1 at the first try. */
  readonly attempt: number;
  /** Aborts when the job is cancelled, the server stops, or the lease was lost. */
  readonly signal: AbortSignal;
  /** 0..100; written to the database now and then. */
  reportProgress(percent: number): void;
}

/** How jobs of one kind are done. */
export interface JobKind {
  readonly kind: string;
  /** Jobs of one lane share its number of places. */
  readonly lane: string;
  /** How often it is tried before it is given up. */
  readonly attemptsAtMost: number;
  /**
   * Does the work. What it did before a crash is done again, so it must be able to. A thrown AppError of the kind `invalid` is
   * final; anything else is tried again later.
   */
  run(job: RunningJob): Promise<void>;
  /** In the transaction that gives the job up: writes down what follows from that. */
  onGiveUp?(job: NewJob, error: unknown): void;
}

/** What those who have work ask of the queue. */
export interface JobQueue {
  /** Adds a job, in the caller's transaction where there is one; it starts when that has been committed. */
  add(job: NewJob): void;
  /** Whether a job of this kind waits or runs for a subject. */
  has(kind: string, subjectId: string): boolean;
  /** Removes a subject's jobs and stops those that run; resolves when none of them runs any more. */
  cancel(subjectId: string): Promise<void>;
}
