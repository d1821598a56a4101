import { sql } from 'kysely';
import type { Clock } from '../shared/clock.ts';
import type { Database } from '../store/database.ts';
import { databaseNowMs } from '../store/database-clock.ts';
import { jobColumns, type StoredJob, storedJobFrom } from './job-rows.ts';

/** Time to fail a job that has crashed too often, before it is due again. */
const failWithinMs = 60_000;

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

  /** Those of a node that starts. The database of SQLite has no other node. */
  releaseOwn(nodeId: string): Promise<StoredJob[]> {
    if (this.#database.dialect === 'sqlite') return this.#release(query => query);
    return this.#release(query =>
      query.where(eb => eb.or([eb('node_id', '=', nodeId), eb('node_id', 'is', null)])),
    );
  }

  /** Those of a node, unless it is back. */
  releaseGone(nodeId: string): Promise<StoredJob[]> {
    return this.#release(query =>
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
        ),
    );
  }

  /** Those of any node whose own lease was not renewed. */
  releaseExpired(): Promise<StoredJob[]> {
    return this.#release(query => query.where('lease_until_ms', '<', this.#now()));
  }

  /** Counts the crash, and requeues what was not removed meanwhile. Oldest first. */
  async #release(narrow: (query: RunningQuery) => RunningQuery): Promise<StoredJob[]> {
    const { queries } = this.#database;
    const running = () => narrow(runningQuery(this.#database));
    if (this.#database.dialect === 'postgres') {
      await this.#database.run(
        queries.deleteFrom('jobs').where('is_removed', '=', 1).where('id', 'in', running()),
      );
    }
    const released = await this.#database.all(
      queries
        .updateTable('jobs')
        .set(({ eb }) => ({
          state: 'waiting',
          lease_until_ms: null,
          run_at_ms: sql<number>`${this.#now()} +
            CASE WHEN crashes + 1 >= ${this.#maxCrashes} THEN ${failWithinMs} ELSE 0 END`,
          crashes: eb('crashes', '+', 1),
        }))
        .where('id', 'in', running())
        .where('state', '=', 'running')
        .where('is_removed', '=', 0)
        .returning(jobColumns),
    );
    return released.map(storedJobFrom).toSorted((one, other) => one.id - other.id);
  }

  #now() {
    return databaseNowMs(this.#database, this.#clock);
  }
}

type RunningQuery = ReturnType<typeof runningQuery>;
function runningQuery({ queries }: Database) {
  return queries.selectFrom('jobs').select('id').where('state', '=', 'running');
}
