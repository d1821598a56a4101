import type Sqlite from 'better-sqlite3';
import { AppError, messageOf } from '../shared/errors.ts';
import type { Migration } from './migration.ts';
import { unverifiedChanges } from './migrations/0062-unverified-changes.ts';
import { publicRecordings } from './migrations/0063-public-recordings.ts';
import { channels } from './migrations/0064-channels.ts';
import { videoStates } from './migrations/0065-video-states.ts';
import { watermarkNames } from './migrations/0066-watermark-names.ts';
import { claimsOfNodes } from './migrations/0067-claims-of-nodes.ts';
import { videoPlays } from './migrations/0068-video-plays.ts';
import { plannedStarts } from './migrations/0069-planned-starts.ts';
import { webhookErrorCodes } from './migrations/0070-webhook-error-codes.ts';
import { baseline, createBaseline } from './schema/baseline.ts';
import {
  assertMigratable,
  assertNotTooNew,
  assertNotTooOld,
  type SchemaVersion,
} from './schema-compatibility.ts';
import { addSqlFunctions } from './sql-functions.ts';

/**
 * Migrations in order, from the baseline on. SQLite's `user_version` is that of the baseline plus the number of
 * applied ones.
 */
export const migrations: readonly Migration[] = [
  unverifiedChanges,
  publicRecordings,
  channels,
  videoStates,
  watermarkNames,
  claimsOfNodes,
  videoPlays,
  plannedStarts,
  webhookErrorCodes,
];

export const schemaVersion = versionAfter(migrations);

export function versionAfter(steps: readonly Migration[]): number {
  return baseline.version + steps.length;
}

/** The migrations that a database of this version lacks, with the version that each leads to. */
export function pendingSteps(
  steps: readonly Migration[],
  version: number,
): { readonly step: Migration; readonly number: number }[] {
  return steps
    .map((step, index) => ({ step, number: baseline.version + index + 1 }))
    .filter(({ number }) => number > version);
}

/** Uses a transaction per migration. Returns the number of applied ones. @throws AppError `database-unusable` */
export function migrate(sqlite: Sqlite.Database, steps: readonly Migration[] = migrations): number {
  const found = readVersion(sqlite);
  assertNotTooNew(nameOf(sqlite), found, versionAfter(steps));
  assertMigratable(nameOf(sqlite), found);
  addSqlFunctions(sqlite);
  if (found.version === 0) create(sqlite);
  const pending = pendingSteps(steps, found.version);
  for (const { step, number } of pending) apply(sqlite, step, number);
  return pending.length;
}

function create(sqlite: Sqlite.Database): void {
  try {
    sqlite
      .transaction(() => {
        sqlite.exec(createBaseline('sqlite'));
        sqlite.pragma(`user_version = ${baseline.version}`);
      })
      .immediate();
  } catch (error) {
    throw new AppError(
      'database-unusable',
      `The tables of the database ${sqlite.name} could not be created: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

function apply(sqlite: Sqlite.Database, step: Migration, number: number): void {
  try {
    const change = sqlite.transaction(() => {
      sqlite.exec(step.sql('sqlite'));
      for (const { select, statements } of step.rewrites ?? []) {
        for (const statement of statements(sqlite.prepare(select).all())) sqlite.exec(statement);
      }
      assertReferences(sqlite, step.rebuiltTable);
      sqlite.pragma(`user_version = ${number}`);
      if (step.isCompatible === false) {
        sqlite.prepare('UPDATE schema_compatibility SET min_version = ?').run(number);
      }
    });
    if (step.rebuiltTable === undefined) change.immediate();
    else withoutForeignKeys(sqlite, () => change.immediate());
  } catch (error) {
    throw new AppError(
      'database-unusable',
      `Migration ${number} (${step.name}) of the database ${sqlite.name} failed: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

/** Must run outside a transaction. With foreign keys, `DROP TABLE` would delete the rows that refer to the table. */
function withoutForeignKeys(sqlite: Sqlite.Database, apply: () => void): void {
  const enabled = sqlite.pragma('foreign_keys', { simple: true });
  sqlite.pragma('foreign_keys = OFF');
  sqlite.pragma('legacy_alter_table = ON');
  try {
    apply();
  } finally {
    sqlite.pragma('legacy_alter_table = OFF');
    sqlite.pragma(`foreign_keys = ${enabled}`);
  }
}

function assertReferences(sqlite: Sqlite.Database, rebuiltTable: string | undefined): void {
  if (rebuiltTable === undefined) return;
  const broken = sqlite.pragma('foreign_key_check') as { table: string; parent: string }[];
  const one = broken.find(({ parent }) => parent === rebuiltTable);
  if (one !== undefined) throw new Error(`a row of ${one.table} refers to no row of ${rebuiltTable}`);
}

/** @throws AppError `database-unusable` when it was not migrated, or needs a newer version */
export function checkIsCurrent(sqlite: Sqlite.Database, steps: readonly Migration[] = migrations): void {
  const found = readVersion(sqlite);
  assertNotTooNew(nameOf(sqlite), found, versionAfter(steps));
  assertNotTooOld(nameOf(sqlite), found, versionAfter(steps));
  addSqlFunctions(sqlite);
}

function readVersion(sqlite: Sqlite.Database): SchemaVersion {
  const version = sqlite.pragma('user_version', { simple: true }) as number;
  const isStored = sqlite.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_compatibility'").get();
  const minVersion = isStored && sqlite.prepare('SELECT min_version FROM schema_compatibility').pluck().get();
  return { version, minVersion: minVersion as number | undefined };
}

function nameOf(sqlite: Sqlite.Database): string {
  return `The database ${sqlite.name}`;
}
