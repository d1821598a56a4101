import type { Migration } from '../migration.ts';

/** Finds what is to be deleted from the sandbox without looking at anything else. */
export const sandboxRetention: Migration = {
  name: 'sandbox retention',
  sql: '',
};
