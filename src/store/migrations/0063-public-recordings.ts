import type { Migration } from '../migration.ts';
import { createIndexes } from '../schema/table.ts';

/** Lets the page of a live stream find its recording. */
export const publicRecordings: Migration = {
  name: 'index of public recordings',
  sql: dialect =>
    createIndexes(dialect, 'videos', {
      columns: {},
      indexes: {
        videos_public_by_live_stream:
          '(live_stream_id, created_at_ms) WHERE live_stream_id IS NOT NULL AND is_public = 1 AND discarded_at_ms IS NULL',
      },
    }),
};
