import type { Migration } from '../migration.ts';

const pairs = `
    CREATE TABLE project_pairs (
      id TEXT PRIMARY KEY,
      account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      created_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX project_pairs_by_account ON project_pairs (account_id, created_at_ms, id);
    INSERT INTO project_pairs (id, account_id, name, created_at_ms)
      SELECT 'pp' || substr(id, 3), id, 'Default', created_at_ms FROM accounts;`;
const byAccount = 'CREATE INDEX projects_by_account ON projects (account_id);';

/** Pairs a sandbox and a production project, so that an account can have several of both. */
export const projectPairs: Migration = {
  name: 'project pairs',
  isCompatible: false,
  rebuiltTable: 'projects',
  sql: `${pairs}
    CREATE TABLE paired_projects (
      id TEXT PRIMARY KEY,
      account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
      environment TEXT NOT NULL CHECK (environment IN ('sandbox', 'production')),
      created_at_ms INTEGER NOT NULL,
      keep_videos_days INTEGER CHECK (keep_videos_days > 0),
      playback_policy TEXT,
      pair_id TEXT NOT NULL REFERENCES project_pairs (id) ON DELETE CASCADE,
      UNIQUE (pair_id, environment)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO paired_projects
        (id, account_id, environment, created_at_ms, keep_videos_days, playback_policy, pair_id)
      SELECT id, account_id, environment, created_at_ms, keep_videos_days, playback_policy,
        'pp' || substr(account_id, 3)
      FROM projects;
    DROP TABLE projects;
    ALTER TABLE paired_projects RENAME TO projects;
    ${byAccount}
  `,
  sqlOfPostgres: `${pairs}
    ALTER TABLE projects ADD COLUMN pair_id TEXT REFERENCES project_pairs (id) ON DELETE CASCADE;
    UPDATE projects SET pair_id = 'pp' || substr(account_id, 3);
    ALTER TABLE projects ALTER COLUMN pair_id SET NOT NULL;
    ALTER TABLE projects DROP CONSTRAINT projects_account_id_environment_key;
    ALTER TABLE projects ADD UNIQUE (pair_id, environment);
    ${byAccount}
  `,
};
