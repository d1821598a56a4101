import type pg from 'pg';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Migration } from '../migration.ts';
import { migrations } from '../migrations.ts';
import { foldTextFunction } from './fold-text.ts';
import { tables } from './tables.ts';
import { triggers } from './triggers.ts';

/** A new database begins with what these migrations of SQLite add up to. */
const baseline = 22;
/** Of the advisory lock: servers that start together migrate one after the other. */
const migrationLock = 7_245_001;

/** Uses one transaction. Returns the number of applied migrations. @throws AppError `database-unusable` */
export async function migratePostgres(
  client: pg.ClientBase,
  steps: readonly Migration[] = migrations,
): Promise<number> {
  await client.query('BEGIN');
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [migrationLock]);
    const from = await readVersion(client);
    if (from > steps.length) throw newerSchema(from, steps);
    if (from === 0) await client.query(foldTextFunction() + tables + triggers);
    for (const step of steps.slice(Math.max(from, baseline))) await apply(client, step);
    if (from < steps.length) {
      await client.query('CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)');
      await client.query('DELETE FROM schema_version');
      await client.query('INSERT INTO schema_version (version) VALUES ($1)', [steps.length]);
    }
    await client.query('COMMIT');
    return steps.length - from;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

/** @throws AppError `database-unusable` when it has more or fewer migrations */
export async function checkPostgresIsCurrent(
  client: pg.ClientBase,
  steps: readonly Migration[] = migrations,
): Promise<void> {
  const from = await readVersion(client);
  if (from > steps.length) throw newerSchema(from, steps);
  if (from < steps.length) {
    throw new AppError(
      'database-unusable',
      `The PostgreSQL database has schema ${from} of an older version. Start this version of the server once to migrate it to ${steps.length}.`,
    );
  }
}

async function apply(client: pg.ClientBase, step: Migration): Promise<void> {
  try {
    await client.query(step.sql);
  } catch (error) {
    throw new AppError(
      'database-unusable',
      `The migration "${step.name}" of the PostgreSQL database failed: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

/** 0 for a database without tables. */
async function readVersion(client: pg.ClientBase): Promise<number> {
  const { rows: found } = await client.query<{ name: string | null }>(
    "SELECT to_regclass('schema_version')::text AS name",
  );
  if (found[0]?.name == null) return 0;
  const { rows } = await client.query<{ version: number }>('SELECT version FROM schema_version');
  return rows[0]?.version ?? 0;
}

function newerSchema(from: number, steps: readonly Migration[]): AppError {
  return new AppError(
    'database-unusable',
    `The PostgreSQL database has schema ${from} of a newer version; this version supports up to ${steps.length}. Use the newer version.`,
  );
}
