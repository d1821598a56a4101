import { type Selectable, sql, type Updateable } from 'kysely';
import type { Connection, Queries, Transaction } from '../store/connection.ts';
import type { Database } from '../store/database.ts';
import type { JobRow } from '../store/event-tables.ts';
import { type Bound, prepareQuery } from '../store/prepared-query.ts';
import type { NewJob } from './job.ts';

export interface StoredJob extends NewJob {
  readonly id: number;
  readonly payload: unknown;
  readonly attempts: number;
  readonly crashes: number;
}

export interface JobCounts {
  readonly waiting: number;
  readonly running: number;
  readonly failed: number;
}

export const zeroCounts: JobCounts = { waiting: 0, running: 0, failed: 0 };

const columns = [
  'id',
  'kind',
  'subject_id',
  'payload',
  'priority',
  'attempts',
  'crashes',
  'group_id',
] as const;

interface DueJobs {
  readonly lane: string;
  readonly nowMs: number;
  readonly maxCrashes: number;
}

/** A literal: SQLite uses the partial indexes of waiting jobs only for literals. */
const waiting = sql.lit('waiting' as const);

export class JobStore {
  readonly #database: Database;

  readonly #nextDue;
  readonly #nextDueByGroup;
  readonly #nextDueAt;

  constructor(database: Database) {
    this.#database = database;
    this.#nextDue = prepareQuery((due: Bound<DueJobs>) => nextDueQuery(database.queries, due));
    this.#nextDueByGroup = prepareQuery((due: Bound<DueJobs>) => nextDueByGroupQuery(database.queries, due));
    this.#nextDueAt = prepareQuery(({ lane, nowMs }: Bound<Omit<DueJobs, 'maxCrashes'>>) =>
      database.queries
        .selectFrom('jobs')
        .select(({ fn }) => fn.min<number | null>('run_at_ms').as('at'))
        .where('state', '=', waiting)
        .where('lane', '=', lane)
        .where('run_at_ms', '>', nowMs),
    );
  }

  async add(
    job: NewJob,
    lane: string,
    nowMs: number,
    connection: Connection = this.#database,
  ): Promise<void> {
    await connection.run(
      connection.queries.insertInto('jobs').values({
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

  async has(kind: string, subjectId: string, connection: Connection = this.#database): Promise<boolean> {
    const query = connection.queries
      .selectFrom('jobs')
      .select('id')
      .where('subject_id', '=', subjectId)
      .where('kind', '=', kind)
      .where('state', '!=', 'failed')
      .limit(1);
    return (await connection.first(query)) !== undefined;
  }

  /** By priority, then age. */
  async nextDue(due: DueJobs): Promise<StoredJob | undefined> {
    const row = await this.#database.first(this.#nextDue(due));
    return row && storedJobFrom(row);
  }

  /** By priority, then age. Jobs without a group form one group. */
  async nextDueByGroup(due: DueJobs): Promise<StoredJob[]> {
    return (await this.#database.all(this.#nextDueByGroup(due))).map(storedJobFrom);
  }

  /** Of jobs that wait for their retry. */
  async nextDueAtMs(lane: string, nowMs: number): Promise<number | undefined> {
    return (await this.#database.first(this.#nextDueAt({ lane, nowMs })))?.at ?? undefined;
  }

  /** Returns the job before this attempt, or undefined when it no longer waits. */
  async claim(id: number, leaseUntilMs: number): Promise<StoredJob | undefined> {
    const query = this.#database.queries
      .updateTable('jobs')
      .set(({ eb }) => ({
        state: 'running',
        attempts: eb('attempts', '+', 1),
        progress_percent: 0,
        lease_until_ms: leaseUntilMs,
      }))
      .where('id', '=', id)
      .where('state', '=', 'waiting')
      .returning(columns);
    const row = await this.#database.first(query);
    return row && storedJobFrom({ ...row, attempts: row.attempts - 1 });
  }

  /** Returns the ids of those that still run. */
  async renewLeases(ids: readonly number[], leaseUntilMs: number): Promise<Set<number>> {
    const renewed = await this.#database.all(
      this.#database.queries
        .updateTable('jobs')
        .set({ lease_until_ms: leaseUntilMs })
        .where('id', 'in', ids)
        .where('state', '=', 'running')
        .returning('id'),
    );
    return new Set(renewed.map(({ id }) => id));
  }

  async setProgress(id: number, percent: number): Promise<void> {
    await this.#updateRunning(id, { progress_percent: percent });
  }

  async requeue(id: number, runAtMs: number, attempts: number, failure: string | null): Promise<void> {
    await this.#updateRunning(id, {
      ...{ state: 'waiting', lease_until_ms: null, run_at_ms: runAtMs, attempts, failure },
    });
  }

  /** Returns false when the job was removed or has already failed. */
  async fail(id: number, failure: string, nowMs: number, transaction: Transaction): Promise<boolean> {
    const query = transaction.queries
      .updateTable('jobs')
      .set({ state: 'failed', lease_until_ms: null, failure, failed_at_ms: nowMs })
      .where('id', '=', id)
      .where('state', '!=', 'failed');
    return (await transaction.run(query)) === 1;
  }

  async remove(id: number): Promise<void> {
    await this.#database.run(
      this.#database.queries.deleteFrom('jobs').where('id', '=', id).where('state', '=', 'running'),
    );
  }

  /** Returns the ids of the removed jobs. */
  async removeSubject(subjectId: string, connection: Connection = this.#database): Promise<Set<number>> {
    const removed = await connection.all(
      connection.queries.deleteFrom('jobs').where('subject_id', '=', subjectId).returning('id'),
    );
    return new Set(removed.map(({ id }) => id));
  }

  async removeFailedBefore(atMs: number): Promise<void> {
    await this.#database.run(
      this.#database.queries
        .deleteFrom('jobs')
        .where('state', '=', 'failed')
        .where('failed_at_ms', '<', atMs),
    );
  }

  /** Requeues jobs that ran when the last process died, and counts the crash. Oldest first. */
  async releaseLeases(nowMs: number): Promise<StoredJob[]> {
    const released = await this.#database.all(
      this.#database.queries
        .updateTable('jobs')
        .set(({ eb }) => ({
          state: 'waiting',
          lease_until_ms: null,
          run_at_ms: nowMs,
          crashes: eb('crashes', '+', 1),
        }))
        .where('state', '=', 'running')
        .returning(columns),
    );
    return released.map(storedJobFrom).toSorted((one, other) => one.id - other.id);
  }

  async kinds(): Promise<string[]> {
    const query = this.#database.queries
      .selectFrom('jobs')
      .select('kind')
      .distinct()
      .where('state', '!=', 'failed');
    return (await this.#database.all(query)).map(row => row.kind);
  }

  async moveKind(kind: string, lane: string): Promise<void> {
    await this.#database.run(
      this.#database.queries
        .updateTable('jobs')
        .set({ lane })
        .where('kind', '=', kind)
        .where('lane', '!=', lane),
    );
  }

  async failKind(kind: string, failure: string, nowMs: number): Promise<number> {
    return await this.#database.run(
      this.#database.queries
        .updateTable('jobs')
        .set({ state: 'failed', lease_until_ms: null, failure, failed_at_ms: nowMs })
        .where('kind', '=', kind)
        .where('state', '!=', 'failed'),
    );
  }

  async counts(): Promise<Map<string, JobCounts>> {
    const query = this.#database.queries
      .selectFrom('jobs')
      .select(({ fn }) => ['lane', 'state', fn.countAll<number>().as('total')])
      .groupBy(['lane', 'state']);
    const counts = new Map<string, JobCounts>();
    for (const { lane, state, total } of await this.#database.all(query)) {
      counts.set(lane, { ...(counts.get(lane) ?? zeroCounts), [state]: total });
    }
    return counts;
  }

  async #updateRunning(id: number, values: Updateable<JobRow>): Promise<void> {
    await this.#database.run(
      this.#database.queries
        .updateTable('jobs')
        .set(values)
        .where('id', '=', id)
        .where('state', '=', 'running'),
    );
  }
}

function nextDueQuery(queries: Queries, { lane, nowMs, maxCrashes }: Bound<DueJobs>) {
  return queries
    .selectFrom('jobs')
    .select(columns)
    .where('state', '=', waiting)
    .where('lane', '=', lane)
    .where('run_at_ms', '<=', nowMs)
    .where('crashes', '<=', maxCrashes)
    .orderBy('priority', 'desc')
    .orderBy('id')
    .limit(1);
}

/** Steps from group to group through an index, because one group may have very many jobs. */
function nextDueByGroupQuery(queries: Queries, { lane, nowMs, maxCrashes }: Bound<DueJobs>) {
  return queries
    .withRecursive('lane_groups(group_id)', db =>
      db
        .selectFrom('jobs')
        .select(({ fn }) => fn.min<string | null>('group_id').as('group_id'))
        .where('state', '=', waiting)
        .where('lane', '=', lane)
        .unionAll(
          db
            .selectFrom('lane_groups as previous')
            .select(eb =>
              eb
                .selectFrom('jobs as next')
                .select(({ fn }) => fn.min<string | null>('next.group_id').as('group_id'))
                .where('next.state', '=', waiting)
                .where('next.lane', '=', lane)
                .whereRef('next.group_id', '>', 'previous.group_id')
                .as('group_id'),
            )
            .where('previous.group_id', 'is not', null),
        ),
    )
    .selectFrom('jobs')
    .select(columns)
    .where('id', 'in', db =>
      db
        .selectFrom('lane_groups')
        .select(eb =>
          eb
            .selectFrom('jobs as due')
            .select('due.id')
            .where('due.state', '=', waiting)
            .where('due.lane', '=', lane)
            .whereRef('due.group_id', '=', 'lane_groups.group_id')
            .where('due.run_at_ms', '<=', nowMs)
            .where('due.crashes', '<=', maxCrashes)
            .orderBy('due.priority', 'desc')
            .orderBy('due.id')
            .limit(1)
            .as('id'),
        )
        .where('lane_groups.group_id', 'is not', null),
    )
    .orderBy('priority', 'desc')
    .orderBy('id');
}

function storedJobFrom(row: Pick<Selectable<JobRow>, (typeof columns)[number]>): StoredJob {
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
