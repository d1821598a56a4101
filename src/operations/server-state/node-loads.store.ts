import { sql } from 'kysely';
import type { Clock } from '../../shared/clock.ts';
import type { Database } from '../../store/database.ts';
import { databaseNowMs } from '../../store/database-clock.ts';

/** Measured by the node itself. */
interface NodeLoad {
  readonly cores: number;
  readonly machinePercent: number;
  readonly memoryTotalBytes: number;
  readonly memoryFreeBytes: number;
  readonly broadcasts: number;
  readonly viewers: number;
}

interface StoredLoad {
  readonly load: NodeLoad;
  readonly ageMs: number;
}

export class NodeLoadsStore {
  readonly #database: Database;
  readonly #clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  async write(nodeId: string, load: NodeLoad): Promise<void> {
    const changed = {
      load: JSON.stringify(load),
      measured_at_ms: databaseNowMs(this.#database, this.#clock),
    };
    const insert = this.#database.queries
      .insertInto('node_loads')
      .values({ node_id: nodeId, ...changed })
      .onConflict(conflict => conflict.column('node_id').doUpdateSet(changed));
    await this.#database.run(insert);
  }

  async remove(nodeId: string): Promise<void> {
    await this.#database.run(this.#database.queries.deleteFrom('node_loads').where('node_id', '=', nodeId));
  }

  async list(): Promise<ReadonlyMap<string, StoredLoad>> {
    const query = this.#database.queries
      .selectFrom('node_loads')
      .select(['node_id', 'load', 'measured_at_ms'])
      .select(sql<number>`${databaseNowMs(this.#database, this.#clock)}`.as('now_ms'));
    const rows = await this.#database.all(query);
    return new Map(
      rows.map(row => [
        row.node_id,
        { load: JSON.parse(row.load) as NodeLoad, ageMs: row.now_ms - row.measured_at_ms },
      ]),
    );
  }

  async countRunningJobs(): Promise<ReadonlyMap<string, number>> {
    const query = this.#database.queries
      .selectFrom('jobs')
      .select(({ fn }) => ['node_id', fn.countAll<number>().as('count')])
      .where('state', '=', 'running')
      .where('node_id', 'is not', null)
      .groupBy('node_id');
    return new Map((await this.#database.all(query)).map(row => [row.node_id!, row.count]));
  }
}
