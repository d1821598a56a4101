import { type Expression, sql, type UpdateObject } from 'kysely';
import type { Clock } from '../shared/clock.ts';
import type { Queries, Transaction } from '../store/connection.ts';
import type { Database } from '../store/database.ts';
import { databaseNowMs } from '../store/database-clock.ts';
import { asText, type Bound, prepareQuery } from '../store/prepared-query.ts';
import type { Tables } from '../store/tables.ts';
import { jobColumns, type StoredJob, storedJobFrom, waiting } from './job-rows.ts';

/** A start of a job, which is over for its node once another node has claimed the job. */
export interface Claim {
  readonly id: number;
  /** Counted from 1. */
  readonly attempt: number;
}

/** A claimed job, with its state before this attempt. */
export interface ClaimedJob extends StoredJob {
  /** True when another node may still run a removed job of the same subject. */
  readonly hasRemoved: boolean;
}

const hasRemoved = sql<number>`EXISTS (
  SELECT 1 FROM jobs AS other WHERE other.subject_id = jobs.subject_id AND other.is_removed = 1
)`.as('has_removed');

function claimedJobFrom(
  row: Parameters<typeof storedJobFrom>[0] & { readonly has_removed: number },
): ClaimedJob {
  const job = storedJobFrom({ ...row, attempts: row.attempts - 1 });
  return { ...job, hasRemoved: row.has_removed === 1 };
}

/** Starts and ends of jobs on one node. Times are those of the database's clock. */
export class JobClaimStore {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #nodeId: string;
  readonly #leaseMs: number;
  readonly #kinds: () => readonly string[];
  readonly #nextDue;
  readonly #nextDueByGroup;
  readonly #nextDueIn;
  readonly #firstDue;

  /** @param options.kinds of jobs that this node can run: others belong to another version */
  constructor(options: {
    readonly database: Database;
    readonly clock: Clock;
    readonly nodeId: string;
    readonly leaseMs: number;
    readonly kinds: () => readonly string[];
    readonly lanes: readonly string[];
  }) {
    const { database, lanes } = options;
    const { queries } = database;
    this.#database = database;
    this.#clock = options.clock;
    this.#nodeId = options.nodeId;
    this.#leaseMs = options.leaseMs;
    this.#kinds = options.kinds;
    const isPostgres = database.dialect === 'postgres';
    const at = (nowMs: Expression<number>) => (isPostgres ? this.#now() : nowMs);
    type Parameters = Bound<{ readonly lane: string; readonly nowMs: number }>;
    const bound = ({ lane, nowMs }: Parameters) => ({
      lane: asText(lane),
      nowMs: at(nowMs),
      kinds: this.#kinds(),
    });
    this.#nextDue = prepareQuery((due: Parameters) => nextDueQuery(queries, bound(due)).select(jobColumns));
    this.#nextDueByGroup = prepareQuery(
      (due: Bound<{ readonly lane: string; readonly nowMs: number; readonly minPriority: number }>) =>
        nextDueByGroupQuery(queries, { ...bound(due), minPriority: due.minPriority }),
    );
    type DueIn = Bound<{ readonly lane: string; readonly nowMs: number; readonly sinceMs: number }>;
    this.#nextDueIn = prepareQuery(({ lane, nowMs, sinceMs }: DueIn) =>
      queries
        .selectFrom('jobs')
        .select(({ fn }) => sql<number | null>`${fn.min('run_at_ms')} - ${at(nowMs)}`.as('delay_ms'))
        .where('state', '=', waiting)
        .where('lane', '=', asText(lane))
        .where('run_at_ms', '>', sql<number>`${at(nowMs)} - ${sinceMs}`),
    );
    this.#firstDue = prepareQuery(({ nowMs }: Bound<{ readonly nowMs: number }>) => {
      const [first, ...others] = lanes.map(lane =>
        queries
          .selectFrom('jobs')
          .select(({ fn }) => [
            sql.lit(lane).as('lane'),
            sql<number | null>`${fn.min('run_at_ms')} - ${at(nowMs)}`.as('delay_ms'),
          ])
          .where('state', '=', waiting)
          .where('lane', '=', sql.lit(lane)),
      );
      return others.reduce((all, one) => all.unionAll(one), first!);
    });
  }

  /** Returns the time until the first job of each lane that has one: zero or less for one that may be due. */
  async firstDueInMs(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#database.all(this.#firstDue({ nowMs: this.#clock.nowMs() }));
    return new Map(rows.flatMap(({ lane, delay_ms }) => (delay_ms === null ? [] : [[lane, delay_ms]])));
  }

  /** Claims the next job by priority, then age. Returns it before this attempt. */
  async claimNext({ lane }: { readonly lane: string }): Promise<ClaimedJob | undefined> {
    if (this.#database.dialect === 'postgres') return this.#claimUnlocked(lane);
    for (;;) {
      const next = await this.#database.first(this.#nextDue({ lane, nowMs: this.#clock.nowMs() }));
      const claimed = next && (await this.claim(next.id));
      if (next === undefined || claimed !== undefined) return claimed;
    }
  }

  /** Returns due jobs by priority, then age. Jobs without a group form one group. */
  async nextDueByGroup(lane: string, minPriority: number): Promise<StoredJob[]> {
    const due = this.#nextDueByGroup({ lane, minPriority, nowMs: this.#clock.nowMs() });
    return (await this.#database.all(due)).map(storedJobFrom);
  }

  /**
   * Returns the time until the first retry of the lane. Zero or less for one that became due in the last
   * `sinceMs`, after jobs were claimed: others that are due wait for room.
   */
  async nextDueInMs(lane: string, sinceMs: number): Promise<number | undefined> {
    const bound = { lane, nowMs: this.#clock.nowMs(), sinceMs: Math.ceil(sinceMs) };
    const row = await this.#database.first(this.#nextDueIn(bound));
    return row?.delay_ms ?? undefined;
  }

  /** Returns the job before this attempt, or undefined when it no longer waits. */
  async claim(id: number): Promise<ClaimedJob | undefined> {
    const row = await this.#database.first(
      this.#database.queries
        .updateTable('jobs')
        .set(({ eb }) => ({ ...this.#claimed(), attempts: eb('attempts', '+', 1) }))
        .where('id', '=', id)
        .where('state', '=', 'waiting')
        .returning([...jobColumns, hasRemoved]),
    );
    return row && claimedJobFrom(row);
  }

  /** Skips jobs that other nodes are claiming. */
  async #claimUnlocked(lane: string): Promise<ClaimedJob | undefined> {
    const { queries } = this.#database;
    const next = nextDueQuery(queries, { nowMs: this.#now(), lane: sql.val(lane), kinds: this.#kinds() });
    const row = await this.#database.first(
      queries
        .updateTable('jobs')
        .set(({ eb }) => ({ ...this.#claimed(), attempts: eb('attempts', '+', 1) }))
        .where('id', '=', next.select('id').forUpdate().skipLocked())
        .returning([...jobColumns, hasRemoved]),
    );
    return row && claimedJobFrom(row);
  }

  /** Returns those that this node still runs, and that were not removed, by id and attempt. */
  async renewLeases(ids: readonly number[]): Promise<(Claim & { readonly isPaused: boolean })[]> {
    const renewed = await this.#database.all(
      this.#database.queries
        .updateTable('jobs')
        .set({ lease_until_ms: this.#leaseEnd() })
        .where('id', 'in', ids)
        .where('state', '=', 'running')
        .where('node_id', '=', this.#nodeId)
        .returning(['id', 'attempts as attempt', 'is_removed', isOfDiscardedVideo('jobs').as('is_paused')]),
    );
    return renewed
      .filter(row => row.is_removed === 0)
      .map(({ id, attempt, is_paused }) => ({ id, attempt, isPaused: Boolean(is_paused) }));
  }

  /**
   * Tells whether this node still has the job. Until the transaction ends, no other node takes it over. The
   * database of SQLite has no other node.
   */
  async holds({ id, attempt }: Claim, transaction: Transaction): Promise<boolean> {
    if (transaction.dialect === 'sqlite') return true;
    const query = transaction.queries
      .selectFrom('jobs')
      .select('id')
      .where('id', '=', id)
      .where('attempts', '=', attempt)
      .where('state', '=', 'running')
      .where('node_id', '=', this.#nodeId)
      .where('is_removed', '=', 0)
      .forUpdate();
    return (await transaction.first(query)) !== undefined;
  }

  async beginParsing(claim: Claim): Promise<void> {
    await this.#update(claim, { parsing: 'now' });
  }

  async endParsing(claim: Claim): Promise<void> {
    await this.#update(claim, { parsing: 'no' });
  }

  /** Takes back a crash that was counted: this node lives, although it lost the job with its lease. */
  async denyCrash(id: number): Promise<void> {
    const query = this.#database.queries
      .updateTable('jobs')
      .set({ lost_by: null })
      .where('id', '=', id)
      .where('lost_by', '=', this.#nodeId);
    await this.#database.run(query);
  }

  async setProgress(claim: Claim, percent: number): Promise<void> {
    await this.#update(claim, { progress_percent: percent });
  }

  /** Returns false when the job was removed, or another node runs it. */
  async requeue(
    claim: Claim,
    { delayMs, attempts, failure }: { delayMs: number; attempts: number; failure: string | null },
  ): Promise<boolean> {
    const run_at_ms = sql<number>`${this.#now()} + ${delayMs}`;
    const survived = { crashes: 0, parsing: 'no', lost_by: null } as const;
    const values = { state: 'waiting', lease_until_ms: null, run_at_ms, attempts, failure } as const;
    return this.#update(claim, { ...values, ...survived });
  }

  /**
   * Returns false when the job was removed, or another node runs it.
   * @param state `waiting` for a job that nobody runs
   */
  async fail(
    { id, attempt }: Claim,
    failure: string,
    state: 'running' | 'waiting',
    transaction: Transaction,
  ): Promise<boolean> {
    let query = transaction.queries
      .updateTable('jobs')
      .set({ state: 'failed', lease_until_ms: null, failure, failed_at_ms: this.#now() })
      .where('id', '=', id)
      .where('attempts', '=', attempt)
      .where('state', '=', state)
      .where('is_removed', '=', 0);
    if (state === 'running') query = query.where('node_id', '=', this.#nodeId);
    return (await transaction.run(query)) === 1;
  }

  /** Returns false when the job was removed, or another node runs it. */
  async remove({ id, attempt }: Claim): Promise<boolean> {
    const query = this.#database.queries
      .deleteFrom('jobs')
      .where('id', '=', id)
      .where('attempts', '=', attempt)
      .where('state', '=', 'running')
      .where('node_id', '=', this.#nodeId);
    return (await this.#database.run(query)) === 1;
  }

  async #update({ id, attempt }: Claim, values: UpdateObject<Tables, 'jobs'>): Promise<boolean> {
    const query = this.#database.queries
      .updateTable('jobs')
      .set(values)
      .where('id', '=', id)
      .where('attempts', '=', attempt)
      .where('state', '=', 'running')
      .where('node_id', '=', this.#nodeId)
      .where('is_removed', '=', 0);
    return (await this.#database.run(query)) === 1;
  }

  #claimed() {
    return {
      state: 'running' as const,
      progress_percent: 0,
      lease_until_ms: this.#leaseEnd(),
      node_id: this.#nodeId,
    };
  }

  #leaseEnd() {
    return sql<number>`${this.#now()} + ${this.#leaseMs}`;
  }

  #now() {
    return databaseNowMs(this.#database, this.#clock);
  }
}

interface BoundDueJobs extends Bound<{ readonly lane: string }> {
  readonly nowMs: Expression<number>;
  readonly kinds: readonly string[];
}

function nextDueQuery(queries: Queries, { lane, nowMs, kinds }: BoundDueJobs) {
  return queries
    .selectFrom('jobs')
    .where('state', '=', waiting)
    .where('lane', '=', lane)
    .where('run_at_ms', '<=', nowMs)
    .where('kind', 'in', kinds)
    .where(({ not }) => not(isOfDiscardedVideo('jobs')))
    .orderBy('priority', 'desc')
    .orderBy('id')
    .limit(1);
}

/** Work on videos in the trash waits until they are restored. */
function isOfDiscardedVideo(jobs: 'jobs' | 'due') {
  const subjectId = sql.ref(`${jobs}.subject_id`);
  return sql<boolean>`EXISTS (SELECT 1 FROM videos WHERE videos.id = ${subjectId} AND videos.discarded_at_ms IS NOT NULL)`;
}

/** Steps from group to group through an index, because one group may have very many jobs. */
function nextDueByGroupQuery(
  queries: Queries,
  { lane, nowMs, kinds, minPriority }: BoundDueJobs & Bound<{ readonly minPriority: number }>,
) {
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
    .select(jobColumns)
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
            .where('due.priority', '>=', minPriority)
            .where('due.kind', 'in', kinds)
            .where(({ not }) => not(isOfDiscardedVideo('due')))
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
