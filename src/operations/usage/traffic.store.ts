import type { Database } from '../../store/database.ts';

/** Body bytes of one day, by what they were of. */
export interface DayTraffic {
  liveBytes: number;
  vodBytes: number;
}

/** What viewers were sent, by project and day, in the database. Days are whole days since 1970, UTC. */
export class TrafficStore {
  readonly #database: Database;
  readonly #add;
  readonly #days;

  constructor(database: Database) {
    this.#database = database;
    // A project may be gone while its viewers are still being sent what they asked for.
    this.#add = database.sqlite.prepare<[number, number, number, string]>(
      `INSERT INTO traffic (project_id, day, live_bytes, vod_bytes)
         SELECT id, ?, ?, ? FROM projects WHERE id = ?
         ON CONFLICT DO UPDATE
           SET live_bytes = live_bytes + excluded.live_bytes, vod_bytes = vod_bytes + excluded.vod_bytes`,
    );
    this.#days = database.sqlite.prepare<
      [string, number],
      { day: number; live_bytes: number; vod_bytes: number }
    >('SELECT day, live_bytes, vod_bytes FROM traffic WHERE project_id = ? AND day >= ? ORDER BY day');
  }

  /** Adds what was sent on one day to the projects: all or none. */
  add(day: number, byProject: ReadonlyMap<string, DayTraffic>): void {
    this.#database.transaction(() => {
      for (const [projectId, { liveBytes, vodBytes }] of byProject) {
        this.#add.run(day, liveBytes, vodBytes, projectId);
      }
    });
  }

  /** The days of a project on which something was sent, from `firstDay` on. */
  since(projectId: string, firstDay: number): Map<number, DayTraffic> {
    return new Map(
      this.#days
        .all(projectId, firstDay)
        .map(row => [row.day, { liveBytes: row.live_bytes, vodBytes: row.vod_bytes }]),
    );
  }

  /** Forgets the days before `firstDay`; how many rows those were. */
  removeBefore(firstDay: number): number {
    return this.#database.run(this.#database.queries.deleteFrom('traffic').where('day', '<', firstDay));
  }
}
