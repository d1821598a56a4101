import { foldTextFunction } from '../postgres/fold-text.ts';
import { accountTables } from './account-tables.ts';
import { analyticsTables } from './analytics-tables.ts';
import { eventTables } from './event-tables.ts';
import { liveTables } from './live-tables.ts';
import { serverTables } from './server-tables.ts';
import { createIndexes, createTable, type Dialect, type Table } from './table.ts';
import { createTriggers } from './triggers.ts';
import { videoListTables, videoTextsTable } from './video-list-schema.ts';
import { videoTables } from './video-tables.ts';

/** The schema that a new database begins with. It never changes: further changes need a migration. */
export const baseline = {
  /** Version of databases with this schema, which the migrations of earlier versions created. */
  version: 61,
  /** Versions of the product that know a lower one cannot use it. */
  minVersion: 60,
  /** A version of the product that migrates older databases to this schema. */
  commit: 'b964f3e1',
} as const;

/** Tables, each after those that it refers to. */
const tables: Readonly<Record<string, Table>> = {
  ...accountTables,
  ...liveTables,
  ...videoTables,
  ...eventTables,
  ...analyticsTables,
  ...serverTables,
};

export function createBaseline(dialect: Dialect): string {
  const isSqlite = dialect === 'sqlite';
  const all = Object.entries(isSqlite ? { ...tables, ...videoListTables } : tables);
  return [
    isSqlite ? videoTextsTable : `CREATE EXTENSION IF NOT EXISTS pg_trgm;\n${foldTextFunction()}`,
    ...all.map(([name, table]) => createTable(dialect, name, table)),
    ...all.map(([name, table]) => createIndexes(dialect, name, table)),
    createTriggers(dialect),
    `INSERT INTO schema_compatibility (min_version) VALUES (${baseline.minVersion});\n`,
  ].join('');
}
