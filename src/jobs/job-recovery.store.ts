import { sql } from 'kysely';
import type { Clock } from '../shared/clock.ts';
import type { Queries, Transaction } from '../store/connection.ts';
import type { Database } from '../store/database.ts';
import { databaseNowMs } from '../store/database-clock.ts';
import { jobColumns, type StoredJob, storedJobFrom } from './job-rows.ts';

/** Time to fail a job that has crashed too often, before it is due again. */
const failWithinMs = 60_000;

export interface ReleasedJob extends StoredJob {
  /** True when the job parsed a file of others. */
  readonly wasParsing: boolean;
}

/** Jobs whose node died or lost its lease. */
export class JobRecoveryStore {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #maxCrashes: number;

  constructor(database: Database, clock: Clock, maxCrashes: number) {
    this.#database = database;
    this.#clock = clock;
    this.#maxCrashes = maxCrashes;
  }

  /** Releases the jobs of a node that starts: its former process has died. The database of SQLite has no other node. */
  releaseOwn(nodeId: string): Promise<ReleasedJob[]> {
    const narrow = (query: RunningQuery) =>
      this.#database.dialect === 'sqlite'
        ? query
        : query.where(eb => eb.or([eb('node_id', '=', nodeId), eb('node_id', 'is', null)]));
    return this.#database.transaction(async transaction => {
      const released = await this.#release(narrow, 'died', transaction);
      return [...released, ...(await this.#countLost(nodeId, transaction))];
    });
  }

  /** Releases the jobs of a node, unless it is back. It may live without its lease. */
  releaseGone(nodeId: string): Promise<ReleasedJob[]> {
    const narrow = (query: RunningQuery) =>
      query
        .where('node_id', '=', nodeId)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('nodes')
                .select('nodes.id')
                .where('nodes.id', '=', nodeId)
                .where('nodes.lease_until_ms', '>', this.#now()),
            ),
          ),
        );
    return this.#database.transaction(transaction => this.#release(narrow, 'lost', transaction));
  }

  /** Releases jobs of any node whose own lease was not renewed. */
  releaseExpired(): Promise<ReleasedJob[]> {
    const narrow = (query: RunningQuery) => query.where('lease_until_ms', '<', this.#now());
    return this.#database.transaction(transaction => this.#release(narrow, 'lost', transaction));
  }

  /** Requeues what was not removed meanwhile, and counts the deaths of parsing jobs. Oldest first. */
  async #release(
    narrow: (query: RunningQuery) => RunningQuery,
    end: 'died' | 'lost',
    transaction: Transaction,
  ): Promise<ReleasedJob[]> {
    const { queries, dialect } = transaction;
    const found = narrow(runningQuery(queries)).orderBy('id');
    const rows = await transaction.all(dialect === 'sqlite' ? found : found.forUpdate());
    const removed = rows.filter(row => row.is_removed === 1).map(({ id }) => id);
    const kept = rows.filter(row => row.is_removed === 0);
    if (removed.length > 0) await transaction.run(queries.deleteFrom('jobs').where('id', 'in', removed));
    if (kept.length === 0) return [];
    await transaction.run(
      queries
        .updateTable('jobs')
        .set({ state: 'waiting', lease_until_ms: null, run_at_ms: this.#now() })
        .where(
          'id',
          'in',
          kept.map(({ id }) => id),
        ),
    );
    const parsing = rows.filter(row => row.parsing === 'now');
    const isAlone = (row: (typeof rows)[number]) =>
      parsing.every(other => other.id === row.id || other.node_id !== row.node_id);
    const released: ReleasedJob[] = [];
    for (const row of kept) {
      const wasParsing = row.parsing === 'now';
      const hasCrashed = wasParsing && isAlone(row) && end === 'died';
      const crashes = row.crashes + Number(hasCrashed);
      released.push({ ...storedJobFrom({ ...row, crashes }), wasParsing });
      if (!wasParsing) continue;
      const lostBy = isAlone(row) && end === 'lost' ? row.node_id : null;
      await transaction.run(
        queries
          .updateTable('jobs')
          .set({ parsing: 'suspect', crashes, lost_by: lostBy, run_at_ms: this.#dueAt(crashes) })
          .where('id', '=', row.id),
      );
    }
    return released;
  }

  /** Counts the deaths of a node that lost jobs before: now it is known that its process had died. */
  async #countLost(nodeId: string, transaction: Transaction): Promise<ReleasedJob[]> {
    const rows = await transaction.all(
      transaction.queries
        .updateTable('jobs')
        .set(({ eb }) => ({ crashes: eb('crashes', '+', 1), lost_by: null }))
        .where('lost_by', '=', nodeId)
        .returning(jobColumns),
    );
    return rows.map(row => ({ ...storedJobFrom(row), wasParsing: true }));
  }

  #dueAt(crashes: number) {
    const delayMs = crashes >= this.#maxCrashes ? failWithinMs : 0;
    return sql<number>`${this.#now()} + ${delayMs}`;
  }

  #now() {
    return databaseNowMs(this.#database, this.#clock);
  }
}

type RunningQuery = ReturnType<typeof runningQuery>;
function runningQuery(queries: Queries) {
  return queries
    .selectFrom('jobs')
    .select([...jobColumns, 'node_id', 'is_removed'])
    .where('state', '=', 'running');
}
