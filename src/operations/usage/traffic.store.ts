import { sql } from 'kysely';
import type { Database } from '../../store/database.ts';
import type { Bound } from '../../store/prepared-query.ts';

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
    this.#add = database.prepare(
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
                sql`${day}`.as('day'),
                sql`${liveBytes}`.as('live_bytes'),
                sql`${vodBytes}`.as('vod_bytes'),
              ])
              .where('id', '=', projectId),
          )
          .onConflict(conflict =>
            conflict.doUpdateSet(({ eb, ref }) => ({
              live_bytes: eb('traffic.live_bytes', '+', ref('excluded.live_bytes')),
              vod_bytes: eb('traffic.vod_bytes', '+', ref('excluded.vod_bytes')),
            })),
          ),
    );
  }

  /** Adds all projects or none. */
  add(day: number, byProject: ReadonlyMap<string, DayTraffic>): void {
    this.#database.transaction(() => {
      for (const [projectId, traffic] of byProject) this.#add.run({ projectId, day, ...traffic });
    });
  }

  since(projectId: string, firstDay: number): Map<number, DayTraffic> {
    const days = this.#database.queries
      .selectFrom('traffic')
      .select(['day', 'live_bytes', 'vod_bytes'])
      .where('project_id', '=', projectId)
      .where('day', '>=', firstDay)
      .orderBy('day');
    return new Map(
      this.#database.all(days).map(row => [row.day, { liveBytes: row.live_bytes, vodBytes: row.vod_bytes }]),
    );
  }

  removeBefore(firstDay: number): number {
    return this.#database.run(this.#database.queries.deleteFrom('traffic').where('day', '<', firstDay));
  }
}
