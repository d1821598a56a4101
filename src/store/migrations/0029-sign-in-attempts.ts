import type { Migration } from '../migration.ts';

/** Wrong passwords count on all servers together. Keys are hashes of email addresses and networks. */
export const signInAttempts: Migration = {
  name: 'sign-in attempts',
  sql: `
    CREATE TABLE sign_in_attempts (
      key_hash BLOB PRIMARY KEY CHECK (length(key_hash) = 32),
      attempts INTEGER NOT NULL,
      ends_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX sign_in_attempts_by_end ON sign_in_attempts (ends_at_ms);
    CREATE TABLE known_sign_ins (
      key_hash BLOB PRIMARY KEY CHECK (length(key_hash) = 32),
      ends_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX known_sign_ins_by_end ON known_sign_ins (ends_at_ms);
  `,
};
