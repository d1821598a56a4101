import type { Migration } from '../migration.ts';

/** Counts changes of accounts, keys and sessions, for servers that missed a signal. */
export const access: Migration = {
  name: 'access',
  sql: `
    CREATE TABLE access_revisions (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      revision INTEGER NOT NULL
    ) STRICT;
  `,
};
