import type { Selectable, Updateable } from 'kysely';
import type { Database } from '../store/database.ts';
import type { JobRow } from '../store/tables.ts';
import type { NewJob } from './job.ts';

/** A job as it is written down. */
export interface StoredJob extends NewJob {
  readonly id: number;
  readonly payload: unknown;
  /** How often it was begun. */
  readonly attempts: number;
  /** The number of starts that never ended because the process died. */
  readonly crashes: number;
}

/** How many jobs of a lane there are in each state. */
export interface JobCounts {
  readonly waiting: number;
  readonly running: number;
  readonly failed: number;
}

type JobColumns = Pick<
  Selectable<JobRow>,
  'id' | 'kind' | 'subject_id' | 'payload' | 'priority' | 'attempts' | 'crashes' | 'group_id'
>;

const columns = 'id, kind, subject_id, payload, priority, attempts, crashes, group_id';

/** Jobs in the database. */
export class JobStore {
  readonly #database: Database;
  readonly #due;
  readonly #firstOfGroups;
  readonly #nextDue;
  readonly #claim;
  readonly #renew;

  constructor(database: Database) {
    this.#database = database;
    this.#due = database.sqlite.prepare<[string, number, number], JobColumns>(
      `SELECT ${columns} FROM jobs
       WHERE state = 'waiting' AND lane = ? AND run_at_ms <= ? AND crashes <= ? ORDER BY priority DESC, id LIMIT 1`,
    );
    // Steps from group to group by the index: one group may have very many jobs.
    this.#firstOfGroups = database.sqlite.prepare<
      { lane: string; nowMs: number; maxCrashes: number },
      JobColumns
    >(
      `WITH RECURSIVE lane_groups (group_id) AS (
         SELECT min(group_id) FROM jobs WHERE state = 'waiting' AND lane = @lane
         UNION ALL
         SELECT (SELECT min(j.group_id) FROM jobs j
           WHERE j.state = 'waiting' AND j.lane = @lane AND j.group_id > g.group_id)
         FROM lane_groups g WHERE g.group_id IS NOT NULL
       )
       SELECT ${columns} FROM jobs WHERE id IN (
         SELECT (SELECT id FROM jobs j
           WHERE j.state = 'waiting' AND j.lane = @lane AND j.group_id = g.group_id AND j.run_at_ms <= @nowMs
             AND j.crashes <= @maxCrashes
           ORDER BY j.priority DESC, j.id LIMIT 1)
         FROM lane_groups g WHERE g.group_id IS NOT NULL
       ) ORDER BY priority DESC, id`,
    );
    this.#nextDue = database.sqlite
      .prepare<[string, number], number | null>(
        `SELECT min(run_at_ms) FROM jobs WHERE state = 'waiting' AND lane = ? AND run_at_ms > ?`,
      )
      .pluck();
    this.#claim = database.sqlite.prepare<[number, number]>(
      `UPDATE jobs SET state = 'running', attempts = attempts + 1, progress_percent = 0, lease_until_ms = ?
       WHERE id = ? AND state = 'waiting'`,
    );
    this.#renew = database.sqlite.prepare<[number, number]>(
      `UPDATE jobs SET lease_until_ms = ? WHERE id = ? AND state = 'running'`,
    );
  }

  /** Writes down a job that can be run from `nowMs` on. */
  add(job: NewJob, lane: string, nowMs: number): void {
    this.#database.run(
      this.#database.queries.insertInto('jobs').values({
        kind: job.kind,
        lane,
        subject_id: job.subjectId,
        group_id: job.groupId ?? '',
        payload: JSON.stringify(job.payload ?? null),
        priority: job.priority ?? 0,
        state: 'waiting',
        attempts: 0,
        progress_percent: 0,
        run_at_ms: nowMs,
        lease_until_ms: null,
        failure: null,
        created_at_ms: nowMs,
        failed_at_ms: null,
      }),
    );
  }

  /** Whether a job of this kind waits or runs for a subject. */
  has(kind: string, subjectId: string): boolean {
    const query = this.#database.queries
      .selectFrom('jobs')
      .select('id')
      .where('subject_id', '=', subjectId)
      .where('kind', '=', kind)
      .where('state', '!=', 'failed')
      .limit(1);
    return this.#database.first(query) !== undefined;
  }

  /** The job of a lane to run next, among those with at most `maxCrashes`. */
  due(lane: string, nowMs: number, maxCrashes: number): StoredJob | undefined {
    const row = this.#due.get(lane, nowMs, maxCrashes);
    return row && storedJobFrom(row);
  }

  /** The first due job of each group of a lane, by priority, then age. Jobs without a group are one group. */
  firstOfGroups(lane: string, nowMs: number, maxCrashes: number): StoredJob[] {
    return this.#firstOfGroups.all({ lane, nowMs, maxCrashes }).map(storedJobFrom);
  }

  /** When the first job of a lane that cannot be run yet can be run. */
  nextDueAtMs(lane: string, nowMs: number): number | undefined {
    return this.#nextDue.get(lane, nowMs) ?? undefined;
  }

  /** Begins an attempt; false when the job is not waiting any more. */
  claim(id: number, leaseUntilMs: number): boolean {
    return this.#claim.run(leaseUntilMs, id).changes === 1;
  }

  /** False when the job is gone. */
  renewLease(id: number, leaseUntilMs: number): boolean {
    return this.#renew.run(leaseUntilMs, id).changes === 1;
  }

  /** Writes down how far a running job is. */
  progress(id: number, percent: number): void {
    this.#change(id, { progress_percent: percent });
  }

  /** Lets a job wait until `runAtMs`, with why it did not succeed; a job that is gone stays gone. */
  putBack(id: number, runAtMs: number, attempts: number, failure: string | null): void {
    this.#change(id, { state: 'waiting', lease_until_ms: null, run_at_ms: runAtMs, attempts, failure });
  }

  /** Keeps a job as one that failed; false when it is gone. */
  fail(id: number, failure: string, nowMs: number): boolean {
    return this.#change(id, { state: 'failed', lease_until_ms: null, failure, failed_at_ms: nowMs });
  }

  /** Forgets a job that was done. */
  remove(id: number): void {
    this.#database.run(this.#database.queries.deleteFrom('jobs').where('id', '=', id));
  }

  /** Forgets all of a subject's jobs. */
  removeSubject(subjectId: string): void {
    this.#database.run(this.#database.queries.deleteFrom('jobs').where('subject_id', '=', subjectId));
  }

  /** Forgets what failed before `atMs`; how many that were. */
  removeFailedBefore(atMs: number): number {
    return this.#database.run(
      this.#database.queries
        .deleteFrom('jobs')
        .where('state', '=', 'failed')
        .where('failed_at_ms', '<', atMs),
    );
  }

  /** Lets the jobs that ran when the last process died wait again, and counts that; the jobs themselves, oldest first. */
  releaseLeases(nowMs: number): StoredJob[] {
    const released = this.#database.all(
      this.#database.queries
        .updateTable('jobs')
        .set(({ eb }) => ({
          state: 'waiting',
          lease_until_ms: null,
          run_at_ms: nowMs,
          crashes: eb('crashes', '+', 1),
        }))
        .where('state', '=', 'running')
        .returningAll(),
    );
    return released.map(storedJobFrom).toSorted((one, other) => one.id - other.id);
  }

  /** Kinds of all jobs that are to be run. */
  kinds(): string[] {
    const query = this.#database.queries
      .selectFrom('jobs')
      .select('kind')
      .distinct()
      .where('state', '!=', 'failed');
    return this.#database.all(query).map(row => row.kind);
  }

  /** Moves jobs that wait to the lane that their kind has now. */
  moveKind(kind: string, lane: string): void {
    this.#database.run(
      this.#database.queries
        .updateTable('jobs')
        .set({ lane })
        .where('kind', '=', kind)
        .where('lane', '!=', lane),
    );
  }

  /** Keeps all jobs of a kind as failed; how many that were. */
  failKind(kind: string, failure: string, nowMs: number): number {
    return this.#database.run(
      this.#database.queries
        .updateTable('jobs')
        .set({ state: 'failed', lease_until_ms: null, failure, failed_at_ms: nowMs })
        .where('kind', '=', kind)
        .where('state', '!=', 'failed'),
    );
  }

  /** By lane; a lane without jobs is not in there. */
  counts(): Map<string, JobCounts> {
    const query = this.#database.queries
      .selectFrom('jobs')
      .select(({ fn }) => ['lane', 'state', fn.countAll<number>().as('total')])
      .groupBy(['lane', 'state']);
    const counts = new Map<string, JobCounts>();
    for (const { lane, state, total } of this.#database.all(query)) {
      counts.set(lane, { ...(counts.get(lane) ?? zeroCounts), [state]: total });
    }
    return counts;
  }

  #change(id: number, values: Updateable<JobRow>): boolean {
    return (
      this.#database.run(this.#database.queries.updateTable('jobs').set(values).where('id', '=', id)) === 1
    );
  }
}

/** Counts of a lane without jobs. */
export const zeroCounts: JobCounts = { waiting: 0, running: 0, failed: 0 };

function storedJobFrom(row: JobColumns): StoredJob {
  return {
    id: row.id,
    kind: row.kind,
    subjectId: row.subject_id,
    payload: JSON.parse(row.payload),
    priority: row.priority,
    attempts: row.attempts,
    crashes: row.crashes,
    groupId: row.group_id,
  };
}
