import type pg from 'pg';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Migration } from '../migration.ts';
import { migrations, pendingSteps, versionAfter } from '../migrations.ts';
import { baseline, createBaseline } from '../schema/baseline.ts';
import {
  assertMigratable,
  assertNotTooNew,
  assertNotTooOld,
  type SchemaVersion,
} from '../schema-compatibility.ts';

/** Key of the advisory lock: servers that start together migrate one after the other. */
const migrationLock = 7_245_001;
const name = 'The PostgreSQL database';

/** Uses one transaction. Returns the number of applied migrations. @throws AppError `database-unusable` */
export async function migratePostgres(
  client: pg.ClientBase,
  steps: readonly Migration[] = migrations,
): Promise<number> {
  await client.query('BEGIN');
  try {
    // A migration may take long, whatever the role's settings are.
    await client.query('SET LOCAL statement_timeout = 0');
    await client.query('SELECT pg_advisory_xact_lock($1)', [migrationLock]);
    const found = await readVersion(client);
    assertNotTooNew(name, found, versionAfter(steps));
    assertMigratable(name, found);
    if (found.version === 0) await create(client);
    const pending = pendingSteps(steps, found.version);
    for (const { step, number } of pending) await apply(client, step, number);
    if (pending.length > 0)
      await client.query('UPDATE schema_version SET version = $1', [versionAfter(steps)]);
    await client.query('COMMIT');
    return pending.length;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

async function create(client: pg.ClientBase): Promise<void> {
  await client.query(createBaseline('postgres'));
  await client.query('CREATE TABLE schema_version (version INTEGER NOT NULL)');
  await client.query('INSERT INTO schema_version (version) VALUES ($1)', [baseline.version]);
}

/** @throws AppError `database-unusable` when it was not migrated, or needs a newer version */
export async function checkPostgresIsCurrent(
  client: pg.ClientBase,
  steps: readonly Migration[] = migrations,
): Promise<void> {
  const found = await readVersion(client);
  assertNotTooNew(name, found, versionAfter(steps));
  assertNotTooOld(name, found, versionAfter(steps));
}

async function apply(client: pg.ClientBase, step: Migration, number: number): Promise<void> {
  if (step.isCompatible === false) await assertNoOlderNodes(client, number);
  try {
    await client.query(step.sql('postgres'));
    for (const { select, statements } of step.rewrites ?? []) {
      for (const statement of statements((await client.query(select)).rows)) await client.query(statement);
    }
    if (step.isCompatible === false) {
      await client.query('UPDATE schema_compatibility SET min_version = $1', [number]);
    }
  } catch (error) {
    throw new AppError(
      'database-unusable',
      `The migration "${step.name}" of the PostgreSQL database failed: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

/** @throws AppError `database-unusable` */
async function assertNoOlderNodes(client: pg.ClientBase, number: number): Promise<void> {
  const { rows } = await client.query<{ url: string; version: string }>(
    `SELECT url, version FROM nodes WHERE schema_version < $1
      AND lease_until_ms > extract(epoch from clock_timestamp()) * 1000 ORDER BY url`,
    [number],
  );
  if (rows.length === 0) return;
  const names = rows.map(({ url, version }) => `${url} (${version})`).join(', ');
  throw new AppError(
    'database-unusable',
    `This version changes the database so that older versions cannot use it any more. Stop the nodes of older versions first: ${names}.`,
  );
}

/** 0 for a database without tables. */
async function readVersion(client: pg.ClientBase): Promise<SchemaVersion> {
  const { rows: found } = await client.query<{ version: string | null; compatibility: string | null }>(
    "SELECT to_regclass('schema_version')::text AS version, to_regclass('schema_compatibility')::text AS compatibility",
  );
  if (found[0]?.version == null) return { version: 0, minVersion: undefined };
  const { rows } = await client.query<{ version: number }>('SELECT version FROM schema_version');
  const version = rows[0]?.version ?? 0;
  if (found[0].compatibility === null) return { version, minVersion: undefined };
  const compatible = await client.query<{ min_version: string }>(
    'SELECT min_version FROM schema_compatibility',
  );
  return { version, minVersion: Number(compatible.rows[0]?.min_version) };
}
