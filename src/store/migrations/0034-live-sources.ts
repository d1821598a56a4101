import type { Migration } from '../migration.ts';

/** `source_status` is JSON: see `PullStatus`. */
export const liveSources: Migration = {
  name: 'live sources',
  sql: `
    ALTER TABLE live_streams ADD COLUMN source_url TEXT;
    ALTER TABLE live_streams ADD COLUMN is_source_enabled INTEGER CHECK (is_source_enabled IN (0, 1));
    ALTER TABLE live_streams ADD COLUMN source_status TEXT;
    CREATE INDEX live_streams_with_source ON live_streams (id) WHERE is_source_enabled = 1;
  `,
};
