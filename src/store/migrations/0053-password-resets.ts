import type { Migration } from '../migration.ts';

/** A user has at most one open link. Its token is stored as SHA-256. */
export const passwordResets: Migration = {
  name: 'password resets',
  sql: `
    CREATE TABLE password_resets (
      user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
      token_hash BLOB NOT NULL UNIQUE CHECK (length(token_hash) = 32),
      expires_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX password_resets_by_expiry ON password_resets (expires_at_ms);
  `,
};
