import type { Database } from '../../store/database.ts';
import { writeServerSecret } from '../../store/server-secret.ts';

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
      const bytes = value === undefined ? undefined : Buffer.from(value);
      await writeServerSecret(`${prefix}${key}`, bytes, transaction);
      await this.#database.signals.send('settings', key, transaction);
    });
  }

  /** Calls `listener` after each change by any server, and when one may have been missed. @returns stops listening */
  onChange(listener: () => void): () => void {
    return this.#database.signals.listen('settings', listener);
  }
}
