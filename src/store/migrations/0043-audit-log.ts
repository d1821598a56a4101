import type { Migration } from '../migration.ts';

/**
 * `number` counts the entries of an account, and each position those that have the same value, without gaps: the oldest
 * entries are removed first. Projects and targets may be gone.
 */
export const auditLog: Migration = {
  name: 'audit log',
  sql: `
    CREATE TABLE audit_counters (
      account_id TEXT PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
      last_number INTEGER NOT NULL,
      last_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE audit_entries (
      account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
      number INTEGER NOT NULL,
      at_ms INTEGER NOT NULL,
      project_id TEXT,
      environment TEXT,
      actor_kind TEXT NOT NULL,
      actor_id TEXT,
      actor_name TEXT,
      address TEXT,
      action TEXT NOT NULL,
      summary TEXT NOT NULL,
      target_kind TEXT,
      target_id TEXT,
      target_name TEXT,
      changed TEXT,
      actor_position INTEGER,
      action_position INTEGER NOT NULL,
      target_position INTEGER,
      PRIMARY KEY (account_id, number)
    ) STRICT;
    CREATE INDEX audit_entries_by_actor ON audit_entries (account_id, actor_id, actor_position);
    CREATE INDEX audit_entries_by_action ON audit_entries (account_id, action, action_position);
    CREATE INDEX audit_entries_by_target ON audit_entries (account_id, target_id, target_position);
  `,
};
