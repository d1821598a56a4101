import type { Migration } from '../migration.ts';
import { createIndexes } from '../schema/table.ts';

/** Indexes for the watch pages, which list the public videos of a project, and find the recording of a live stream. */
export const publicVideos: Migration = {
  name: 'indexes of public videos',
  sql: dialect =>
    createIndexes(dialect, 'videos', {
      columns: {},
      indexes: {
        videos_public_by_publication:
          '(project_id, published_at_ms, id) WHERE is_public = 1 AND discarded_at_ms IS NULL',
        videos_public_by_live_stream:
          '(live_stream_id, created_at_ms) WHERE live_stream_id IS NOT NULL AND is_public = 1 AND discarded_at_ms IS NULL',
      },
    }),
};
