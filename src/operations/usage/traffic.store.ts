import { sql } from 'kysely';
import { CommitOnce } from '../../store/commit-once.ts';
import type { Database } from '../../store/database.ts';
import { type Bound, prepareQuery } from '../../store/prepared-query.ts';

export interface DayTraffic {
  liveBytes: number;
  vodBytes: number;
}

/** Days are whole days since 1970, UTC. */
export class TrafficStore {
  readonly #database: Database;
  readonly #add;

  constructor(database: Database) {
    this.#database = database;
    const { queries } = database;
    this.#add = prepareQuery(
      ({ projectId, day, liveBytes, vodBytes }: Bound<DayTraffic & { projectId: string; day: number }>) =>
        queries
          .insertInto('traffic')
          .columns(['project_id', 'day', 'live_bytes', 'vod_bytes'])
          // A project may be removed while its viewers still receive a response.
          .expression(
            queries
              .selectFrom('projects')
              .select([
                'id',
                sql<number>`cast(${day} as bigint)`.as('day'),
                sql<number>`cast(${liveBytes} as bigint)`.as('live_bytes'),
                sql<number>`cast(${vodBytes} as bigint)`.as('vod_bytes'),
              ])
              .where('id', '=', projectId),
          )
          .onConflict(conflict =>
            conflict.columns(['project_id', 'day']).doUpdateSet(({ eb, ref }) => ({
              live_bytes: eb('traffic.live_bytes', '+', ref('excluded.live_bytes')),
              vod_bytes: eb('traffic.vod_bytes', '+', ref('excluded.vod_bytes')),
            })),
          ),
    );
  }

  /** Adds all projects or none when it runs. */
  addition(day: number, byProject: ReadonlyMap<string, DayTraffic>): CommitOnce {
    return new CommitOnce(this.#database, async transaction => {
      // Adds in one order, so that transactions of several servers do not deadlock.
      for (const [projectId, traffic] of [...byProject].sort(([one], [other]) => (one < other ? -1 : 1))) {
        await transaction.run(this.#add({ projectId, day, ...traffic }));
      }
    });
  }

  async since(projectId: string, firstDay: number): Promise<Map<number, DayTraffic>> {
    const days = this.#database.queries
      .selectFrom('traffic')
      .select(['day', 'live_bytes', 'vod_bytes'])
      .where('project_id', '=', projectId)
      .where('day', '>=', firstDay)
      .orderBy('day');
    return new Map(
      (await this.#database.all(days)).map(row => [
        row.day,
        { liveBytes: row.live_bytes, vodBytes: row.vod_bytes },
      ]),
    );
  }

  removeBefore(firstDay: number): Promise<number> {
    return this.#database.run(this.#database.queries.deleteFrom('traffic').where('day', '<', firstDay));
  }
}
