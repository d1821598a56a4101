import type { Migration } from '../migration.ts';

/** Counts what viewers were sent, by project and day. */
export const traffic: Migration = {
  name: 'traffic',
  sql: '',
};
