import type { Migration } from '../migration.ts';

/** A session without an account acts for the first one of its user. The token of an invitation is stored as SHA-256. */
export const members: Migration = {
  name: 'members',
  sql: `
    CREATE TABLE members (
      account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      role TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
      created_at_ms INTEGER NOT NULL,
      PRIMARY KEY (account_id, user_id)
    ) STRICT;
    CREATE INDEX members_by_user ON members (user_id);
    INSERT INTO members (account_id, user_id, role, created_at_ms)
      SELECT account_id, id, 'owner', created_at_ms FROM users;
    CREATE TABLE invitations (
      id TEXT PRIMARY KEY,
      account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
      email TEXT NOT NULL,
      role TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
      token_hash BLOB NOT NULL UNIQUE CHECK (length(token_hash) = 32),
      created_at_ms INTEGER NOT NULL,
      expires_at_ms INTEGER NOT NULL,
      UNIQUE (account_id, email)
    ) STRICT;
    CREATE INDEX invitations_by_expiry ON invitations (expires_at_ms);
    ALTER TABLE accounts ADD COLUMN name TEXT;
    ALTER TABLE sessions ADD COLUMN account_id TEXT;
  `,
};
