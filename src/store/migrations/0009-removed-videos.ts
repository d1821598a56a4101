import type { Migration } from '../migration.ts';

export const removedVideos: Migration = {
  name: 'removed videos',
  sql: `
    CREATE TABLE removed_videos (
      id TEXT PRIMARY KEY
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER videos_leave_files AFTER DELETE ON videos BEGIN
      INSERT OR IGNORE INTO removed_videos (id) VALUES (old.id);
    END;
  `,
};
