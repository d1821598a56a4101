import type { Migration } from '../migration.ts';

export const identities: Migration = {
  name: 'identities',
  sql: `
    CREATE TABLE identities (
      issuer TEXT NOT NULL,
      subject TEXT NOT NULL,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      created_at_ms INTEGER NOT NULL,
      PRIMARY KEY (issuer, subject)
    ) STRICT;
    CREATE UNIQUE INDEX identities_by_user ON identities (user_id, issuer);
  `,
};
