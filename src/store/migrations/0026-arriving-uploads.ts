import type { Migration } from '../migration.ts';

/** Files that servers are receiving: other servers count them, too. */
export const arrivingUploads: Migration = {
  name: 'arriving uploads',
  sql: `
    CREATE TABLE arriving_uploads (
      id TEXT PRIMARY KEY,
      project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      video_id TEXT,
      bytes INTEGER NOT NULL,
      is_new INTEGER NOT NULL CHECK (is_new IN (0, 1)),
      receiver_id TEXT NOT NULL,
      lease_until_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX arriving_uploads_by_project ON arriving_uploads (project_id);
    CREATE INDEX arriving_uploads_by_video ON arriving_uploads (video_id) WHERE video_id IS NOT NULL;
    CREATE INDEX arriving_uploads_by_receiver ON arriving_uploads (receiver_id);
  `,
};
