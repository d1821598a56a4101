import type { Migration } from '../migration.ts';

export const hooks: Migration = {
  name: 'hooks',
  sql: `
    CREATE TABLE hooks (
      id TEXT PRIMARY KEY,
      project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      kind TEXT NOT NULL CHECK (kind IN ('publish', 'play')),
      url TEXT NOT NULL,
      timeout_ms INTEGER NOT NULL,
      on_failure TEXT NOT NULL CHECK (on_failure IN ('allow', 'refuse')),
      signature_secret TEXT NOT NULL,
      created_at_ms INTEGER NOT NULL,
      UNIQUE (project_id, kind)
    ) STRICT;
    CREATE TABLE hook_results (
      number INTEGER PRIMARY KEY,
      hook_id TEXT NOT NULL REFERENCES hooks (id) ON DELETE CASCADE,
      attempted_at_ms INTEGER NOT NULL,
      duration_ms INTEGER NOT NULL,
      is_allowed INTEGER NOT NULL CHECK (is_allowed IN (0, 1)),
      is_test INTEGER NOT NULL CHECK (is_test IN (0, 1)),
      subject_id TEXT NOT NULL,
      remote_address TEXT NOT NULL,
      status_code INTEGER,
      error TEXT,
      response TEXT
    ) STRICT;
    CREATE INDEX hook_results_by_hook ON hook_results (hook_id, number);
  `,
};
