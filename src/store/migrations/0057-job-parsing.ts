import type { Migration } from '../migration.ts';

/**
 * Jobs that parse a file of others, which may end the process. `suspect`: the process ended while it did.
 * `lost_by`: the node whose lease ran out meanwhile; it may live.
 */
export const jobParsing: Migration = {
  name: 'job parsing',
  sql: `
    ALTER TABLE jobs ADD COLUMN parsing TEXT NOT NULL DEFAULT 'no' CHECK (parsing IN ('no', 'now', 'suspect'));
    ALTER TABLE jobs ADD COLUMN lost_by TEXT;
    UPDATE jobs SET crashes = 0;
  `,
};
