import type { Migration } from '../migration.ts';

/** Groups of jobs that share the slots of a lane; `''` for jobs without one. */
export const jobGroups: Migration = {
  name: 'job groups',
  sql: `
    ALTER TABLE jobs ADD COLUMN group_id TEXT NOT NULL DEFAULT '';
    CREATE INDEX jobs_by_group ON jobs (lane, group_id, priority DESC, id) WHERE state = 'waiting';
  `,
};
