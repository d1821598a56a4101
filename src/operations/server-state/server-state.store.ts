import { sql } from 'kysely';
import type { Database } from '../../store/database.ts';

export class ServerStateStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async countFailedJobsSince(atMs: number): Promise<number> {
    const failed = this.#database.queries
      .selectFrom('jobs')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('state', '=', sql.lit('failed' as const))
      .where('failed_at_ms', '>=', atMs);
    return (await this.#database.first(failed))?.count ?? 0;
  }
}
