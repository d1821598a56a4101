import type { Migration } from '../migration.ts';

/** Starts of a job that never ended because the process died. */
export const jobCrashes: Migration = {
  name: 'job crashes',
  sql: `
    ALTER TABLE jobs ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
  `,
};
