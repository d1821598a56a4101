import type { Migration } from '../migration.ts';

export const twoFactor: Migration = {
  name: 'two-factor sign-in',
  sql: `
    CREATE TABLE two_factor (
      user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
      secret BLOB NOT NULL,
      last_step INTEGER NOT NULL,
      created_at_ms INTEGER NOT NULL,
      enabled_at_ms INTEGER
    ) STRICT;
    CREATE TABLE recovery_codes (
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      code_hash BLOB NOT NULL,
      PRIMARY KEY (user_id, code_hash)
    ) STRICT;
  `,
};
