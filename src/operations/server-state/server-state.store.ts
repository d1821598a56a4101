import type { Database } from '../../store/database.ts';

/** What the database knows of how the server is. */
export class ServerStateStore {
  readonly #failed;

  constructor(database: Database) {
    this.#failed = database.sqlite
      .prepare<[number], number>("SELECT count(*) FROM jobs WHERE state = 'failed' AND failed_at_ms >= ?")
      .pluck();
  }

  /** How many jobs were given up since `atMs`. */
  jobsFailedSince(atMs: number): number {
    return this.#failed.get(atMs) ?? 0;
  }
}
