import { sql } from 'kysely';
import type { Connection } from '../../store/connection.ts';
import type { Database } from '../../store/database.ts';

const prefix = 'setting ';

/** Stores the settings that were changed in the dashboard, among the secrets that the servers of a database share. */
export class ServerSettingsStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async read(): Promise<Record<string, string>> {
    const rows = await this.#database.all(
      this.#database.queries
        .selectFrom('secrets')
        .select(['name', 'bytes'])
        .where('name', 'like', `${prefix}%`)
        .orderBy('name'),
    );
    return Object.fromEntries(rows.map(({ name, bytes }) => [name.slice(prefix.length), bytes.toString()]));
  }

  /** Tells all servers. @param value undefined removes it */
  async write(key: string, value: string | undefined): Promise<void> {
    await this.#database.transaction(async transaction => {
      await this.#replace(`${prefix}${key}`, value, transaction);
      await this.#database.signals.send('settings', key, transaction);
    });
  }

  /** Calls `listener` after each change by any server, and when one may have been missed. @returns stops listening */
  onChange(listener: () => void): () => void {
    return this.#database.signals.listen('settings', listener);
  }

  async #replace(name: string, value: string | undefined, transaction: Connection): Promise<void> {
    const { queries } = transaction;
    if (value === undefined) {
      await transaction.run(queries.deleteFrom('secrets').where('name', '=', name));
      return;
    }
    await transaction.run(
      queries
        .insertInto('secrets')
        .values({ name, bytes: Buffer.from(value) })
        .onConflict(conflict => conflict.column('name').doUpdateSet({ bytes: sql`excluded.bytes` })),
    );
  }
}
