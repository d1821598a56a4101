import type { Migration } from '../migration.ts';

/** A broadcast that ended in a crash has no statistics. */
export const ingestHealth: Migration = {
  name: 'ingest health',
  sql: `
    ALTER TABLE broadcasts ADD COLUMN average_bits_per_second INTEGER;
    ALTER TABLE broadcasts ADD COLUMN peak_bits_per_second INTEGER;
    ALTER TABLE broadcasts ADD COLUMN average_frames_per_second REAL;
    ALTER TABLE broadcasts ADD COLUMN longest_gop_ms INTEGER;
    ALTER TABLE broadcasts ADD COLUMN dropped_frames INTEGER;
    ALTER TABLE broadcasts ADD COLUMN missing_frames INTEGER;
    ALTER TABLE broadcasts ADD COLUMN dropped_connections INTEGER;
    ALTER TABLE broadcasts ADD COLUMN away_ms INTEGER;
    CREATE INDEX broadcasts_by_end ON broadcasts (ended_at_ms) WHERE ended_at_ms IS NOT NULL;
  `,
};
