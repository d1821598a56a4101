import type { Migration } from '../migration.ts';

/** Finds videos that nothing was ever uploaded to. */
export const emptyContainers: Migration = {
  name: 'empty containers',
  sql: '',
};
