import type { Migration } from '../migration.ts';

/** `scopes` is a list with spaces. Keys from before have all. */
export const keyScopes: Migration = {
  name: 'key scopes',
  sql: `
    ALTER TABLE key_pairs ADD COLUMN scopes TEXT NOT NULL DEFAULT 'read upload live admin';
  `,
};
