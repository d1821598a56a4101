import type { Migration } from '../migration.ts';

/** How broadcasts did, for their history. */
export const ingestHealth: Migration = {
  name: 'ingest health',
  sql: '',
};
