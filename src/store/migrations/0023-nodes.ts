import type { Migration } from '../migration.ts';

/** Servers that share the database, their leases, and which of them runs a job. */
export const nodes: Migration = {
  name: 'nodes',
  sql: `
    CREATE TABLE nodes (
      id TEXT PRIMARY KEY,
      run_id TEXT NOT NULL,
      place TEXT NOT NULL,
      roles TEXT NOT NULL,
      url TEXT NOT NULL,
      media_url TEXT NOT NULL,
      version TEXT NOT NULL,
      schema_version INTEGER NOT NULL,
      started_at_ms INTEGER NOT NULL,
      is_draining INTEGER NOT NULL DEFAULT 0 CHECK (is_draining IN (0, 1)),
      lease_until_ms INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE duties (
      name TEXT PRIMARY KEY,
      node_id TEXT NOT NULL,
      run_id TEXT NOT NULL
    ) STRICT;
    CREATE TABLE schema_compatibility (min_version INTEGER NOT NULL) STRICT;
    INSERT INTO schema_compatibility (min_version) VALUES (23);
    ALTER TABLE jobs ADD COLUMN node_id TEXT;
    ALTER TABLE jobs ADD COLUMN is_removed INTEGER NOT NULL DEFAULT 0 CHECK (is_removed IN (0, 1));
    CREATE INDEX jobs_running_by_node ON jobs (node_id) WHERE state = 'running';
  `,
};
