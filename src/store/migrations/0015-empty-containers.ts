import type { Migration } from '../migration.ts';

const entryOfOld = 'created_at_ms = old.created_at_ms AND video_id = old.id';

export const emptyContainers: Migration = {
  name: 'empty containers',
  sql: `
    -- Those in the trash are none: they have a time of their own.
    CREATE TABLE empty_videos (
      created_at_ms INTEGER NOT NULL,
      video_id TEXT NOT NULL,
      PRIMARY KEY (created_at_ms, video_id)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO empty_videos (created_at_ms, video_id)
      SELECT created_at_ms, id FROM videos v
      WHERE is_discarded = 0 AND NOT EXISTS (SELECT 1 FROM video_sources s WHERE s.video_id = v.id);
    CREATE TRIGGER videos_begin_empty AFTER INSERT ON videos WHEN new.is_discarded = 0 BEGIN
      INSERT INTO empty_videos (created_at_ms, video_id) VALUES (new.created_at_ms, new.id);
    END;
    CREATE TRIGGER videos_end_empty AFTER DELETE ON videos BEGIN
      DELETE FROM empty_videos WHERE ${entryOfOld};
    END;
    CREATE TRIGGER videos_empty_again AFTER UPDATE OF is_discarded ON videos BEGIN
      DELETE FROM empty_videos WHERE ${entryOfOld};
      INSERT INTO empty_videos (created_at_ms, video_id)
        SELECT new.created_at_ms, new.id
        WHERE new.is_discarded = 0 AND NOT EXISTS (SELECT 1 FROM video_sources WHERE video_id = new.id);
    END;
    CREATE TRIGGER video_sources_fill AFTER INSERT ON video_sources BEGIN
      DELETE FROM empty_videos
        WHERE (created_at_ms, video_id) = (SELECT created_at_ms, id FROM videos WHERE id = new.video_id);
    END;

    -- From when to when servers have used this database: what was made in between belongs to another one.
    CREATE TABLE database_uses (
      began_at_ms INTEGER PRIMARY KEY,
      last_at_ms INTEGER NOT NULL
    ) STRICT;
  `,
};
