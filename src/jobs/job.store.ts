import { type ExpressionBuilder, sql } from 'kysely';
import type { Clock } from '../shared/clock.ts';
import type { Connection } from '../store/connection.ts';
import type { Database } from '../store/database.ts';
import { databaseNowMs } from '../store/database-clock.ts';
import { asText } from '../store/prepared-query.ts';
import type { Tables } from '../store/tables.ts';
import type { NewJob } from './job.ts';
import { waiting } from './job-rows.ts';

export interface JobCounts {
  readonly waiting: number;
  readonly running: number;
  readonly failed: number;
}

export const zeroCounts: JobCounts = { waiting: 0, running: 0, failed: 0 };

/** Jobs that nobody runs, and what is known of the others. Times are those of the database's clock. */
export class JobStore {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #nodeId: string;

  constructor(database: Database, clock: Clock, nodeId: string) {
    this.#database = database;
    this.#clock = clock;
    this.#nodeId = nodeId;
  }

  async add(job: NewJob, lane: string, connection: Connection = this.#database): Promise<void> {
    const nowMs = this.#now();
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
      .where('is_removed', '=', 0)
      .limit(1);
    return (await connection.first(query)) !== undefined;
  }

  /** The stored failure of a job of the subject that waits for its next attempt. */
  async failureOfWaiting(subjectId: string): Promise<string | undefined> {
    const query = this.#database.queries
      .selectFrom('jobs')
      .select('failure')
      .where('subject_id', '=', asText(subjectId))
      .where('state', '=', waiting)
      .where('failure', 'is not', null)
      .where('is_removed', '=', sql.lit(0))
      .orderBy('id')
      .limit(1);
    return (await this.#database.first(query))?.failure ?? undefined;
  }

  /** Keeps the rows of what other nodes run until they let go. Returns the ids of the others. */
  async remove(
    { subjectId, kind }: { readonly subjectId: string; readonly kind: string | undefined },
    connection: Connection = this.#database,
  ): Promise<Set<number>> {
    const { queries } = connection;
    const isAsked = ({ and, eb }: ExpressionBuilder<Tables, 'jobs'>) =>
      and([eb('subject_id', '=', subjectId), ...(kind === undefined ? [] : [eb('kind', '=', kind)])]);
    const ofSubject = queries.deleteFrom('jobs').where(isAsked).returning('id');
    if (connection.dialect === 'sqlite') return idsOf(await connection.all(ofSubject));
    const removed = await connection.all(
      ofSubject.where(eb =>
        eb.or([
          eb('state', '!=', 'running'),
          eb('node_id', 'is', null),
          eb('node_id', '=', this.#nodeId),
          eb('lease_until_ms', '<', this.#now()),
        ]),
      ),
    );
    await connection.run(queries.updateTable('jobs').set({ is_removed: 1 }).where(isAsked));
    return idsOf(removed);
  }

  /** Tells whether another node with a lease runs a removed job of the subject. */
  async isRemovedRunning(subjectId: string): Promise<boolean> {
    const query = this.#database.queries
      .selectFrom('jobs')
      .select('id')
      .where('subject_id', '=', subjectId)
      .where('is_removed', '=', 1)
      .where('node_id', '!=', this.#nodeId)
      .where('lease_until_ms', '>', this.#now())
      .limit(1);
    return (await this.#database.first(query)) !== undefined;
  }

  async removeFailed(olderThanMs: number): Promise<void> {
    await this.#database.run(
      this.#database.queries
        .deleteFrom('jobs')
        .where('state', '=', 'failed')
        .where('failed_at_ms', '<', sql<number>`${this.#now()} - ${olderThanMs}`),
    );
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

  async failKind(kind: string, failure: string): Promise<number> {
    return await this.#database.run(
      this.#database.queries
        .updateTable('jobs')
        .set({ state: 'failed', lease_until_ms: null, failure, failed_at_ms: this.#now() })
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

  #now() {
    return databaseNowMs(this.#database, this.#clock);
  }
}

function idsOf(rows: readonly { readonly id: number }[]): Set<number> {
  return new Set(rows.map(({ id }) => id));
}
