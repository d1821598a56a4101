import type { Migration } from '../migration.ts';

export const passkeys: Migration = {
  name: 'passkeys',
  sql: `
    CREATE TABLE passkeys (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      credential_id BLOB NOT NULL UNIQUE,
      public_key BLOB NOT NULL,
      counter INTEGER NOT NULL,
      transports TEXT NOT NULL,
      created_at_ms INTEGER NOT NULL,
      last_used_at_ms INTEGER
    ) STRICT;
    CREATE INDEX passkeys_by_user ON passkeys (user_id, created_at_ms);
    CREATE TABLE used_challenges (
      challenge_hash BLOB PRIMARY KEY,
      expires_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX used_challenges_by_expiry ON used_challenges (expires_at_ms);
  `,
};
