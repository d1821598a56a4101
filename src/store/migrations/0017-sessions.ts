import type { Migration } from '../migration.ts';

export const sessions: Migration = {
  name: 'sessions',
  sql: `
    CREATE TABLE sessions (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      secret_hash BLOB NOT NULL UNIQUE CHECK (length(secret_hash) = 32),
      created_at_ms INTEGER NOT NULL,
      last_used_at_ms INTEGER NOT NULL,
      expires_at_ms INTEGER NOT NULL,
      address TEXT NOT NULL,
      user_agent TEXT
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sessions_by_user ON sessions (user_id, last_used_at_ms);
    CREATE INDEX sessions_by_expiry ON sessions (expires_at_ms);

    -- The first start made the oldest account, for whoever runs the server.
    ALTER TABLE accounts ADD COLUMN is_operator INTEGER NOT NULL DEFAULT 0 CHECK (is_operator IN (0, 1));
    UPDATE accounts SET is_operator = 1
      WHERE id = (SELECT id FROM accounts ORDER BY created_at_ms, id LIMIT 1);
  `,
};
