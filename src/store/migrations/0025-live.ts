import type { Migration } from '../migration.ts';

/** The server that packages a broadcast, and what others tell viewers about it. */
export const live: Migration = {
  name: 'live',
  sql: `
    ALTER TABLE broadcasts ADD COLUMN node_id TEXT;
    ALTER TABLE broadcasts ADD COLUMN claim INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE broadcasts ADD COLUMN first_sequence INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE broadcasts ADD COLUMN claimed_at_ms INTEGER;
    ALTER TABLE broadcasts ADD COLUMN expires_at_ms INTEGER;
    ALTER TABLE broadcasts ADD COLUMN wanted_by TEXT;
    ALTER TABLE broadcasts ADD COLUMN requested_end TEXT;
    ALTER TABLE broadcasts ADD COLUMN target_duration_seconds INTEGER;
    ALTER TABLE broadcasts ADD COLUMN multivariant TEXT;
    ALTER TABLE broadcasts ADD COLUMN report TEXT;
  `,
};
