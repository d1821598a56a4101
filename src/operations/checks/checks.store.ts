import { sql } from 'kysely';
import type { Clock } from '../../shared/clock.ts';
import type { Connection } from '../../store/connection.ts';
import { databaseNowMs } from '../../store/database-clock.ts';

/** Asks the database for its time: Unix milliseconds. */
export async function askDatabaseTime(database: Connection, clock: Clock): Promise<number> {
  const query = database.queries.selectNoFrom(sql<number>`${databaseNowMs(database, clock)}`.as('now'));
  return Number((await database.first(query))?.now);
}

/** Returns the number of the last migration. */
export async function readSchemaVersion(database: Connection): Promise<number> {
  const isSqlite = database.dialect === 'sqlite';
  const source = isSqlite ? sql`pragma_user_version` : sql`schema_version`;
  const version = isSqlite ? sql<number>`user_version` : sql<number>`version`;
  const query = database.queries.selectFrom(source.as('source')).select(version.as('version'));
  return Number((await database.first(query))?.version);
}
