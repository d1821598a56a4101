import type { Migration } from '../migration.ts';

/** What is being recorded, so that a crash loses no recording. */
export const recordings: Migration = {
  name: 'recordings',
  sql: '',
};
