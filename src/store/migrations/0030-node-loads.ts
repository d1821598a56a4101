import type { Migration } from '../migration.ts';

/** Load of each server that shares the database. */
export const nodeLoads: Migration = {
  name: 'node-loads',
  sql: `
    CREATE TABLE node_loads (
      node_id TEXT PRIMARY KEY,
      load TEXT NOT NULL,
      measured_at_ms INTEGER NOT NULL
    ) STRICT;
  `,
};
