import type { Migration } from '../migration.ts';

/** Keeps who is signed in to the dashboard, and which account is the operator's. */
export const sessions: Migration = {
  name: 'sessions',
  sql: '',
};
