import type { Migration } from '../migration.ts';

const kinds = ['source_bytes', 'recording_bytes', 'hls_bytes', 'mp4_bytes', 'image_bytes', 'text_bytes'];
const columns = kinds.map(kind => `${kind} INTEGER NOT NULL DEFAULT 0,`).join('\n      ');
const differences = kinds.map(kind => `${kind} = ${kind} + new.${kind} - old.${kind}`).join(', ');
const withoutOld = kinds.map(kind => `${kind} = ${kind} - old.${kind}`).join(', ');
const isCounted = (row: 'old' | 'new') => kinds.map(kind => `${row}.${kind}`).join(' + ');

/** Marks a changed video as due. One that is being removed is not found any more. */
const dueAgain = (videoId: string) => `
      INSERT INTO stored_videos (video_id, project_id)
        SELECT id, project_id FROM videos WHERE id = ${videoId}
        ON CONFLICT DO UPDATE SET due_at_ms = 0, changes = changes + 1;`;

export const traffic: Migration = {
  name: 'traffic',
  sql: `
    -- day: whole days since 1970, UTC.
    CREATE TABLE traffic (
      project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      day INTEGER NOT NULL,
      live_bytes INTEGER NOT NULL DEFAULT 0,
      vod_bytes INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (project_id, day)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX traffic_by_day ON traffic (day);

    -- A row for each video that files came of, and each recording that will be one. Files are measured when it is due, not before.
    CREATE TABLE stored_videos (
      video_id TEXT PRIMARY KEY,
      project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      ${columns}
      is_measured INTEGER NOT NULL DEFAULT 0 CHECK (is_measured IN (0, 1)),
      due_at_ms INTEGER NOT NULL DEFAULT 0,
      changes INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX stored_videos_by_due ON stored_videos (due_at_ms);
    CREATE INDEX stored_videos_by_project ON stored_videos (project_id);
    CREATE INDEX stored_videos_unmeasured ON stored_videos (project_id) WHERE is_measured = 0;

    CREATE TABLE storage_totals (
      project_id TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
      ${columns.slice(0, -1)}
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER stored_videos_counted AFTER UPDATE OF ${kinds.join(', ')} ON stored_videos BEGIN
      INSERT INTO storage_totals (project_id) VALUES (new.project_id) ON CONFLICT DO NOTHING;
      UPDATE storage_totals SET ${differences} WHERE project_id = new.project_id;
    END;
    CREATE TRIGGER stored_videos_counted_out AFTER DELETE ON stored_videos WHEN ${isCounted('old')} > 0 BEGIN
      UPDATE storage_totals SET ${withoutOld} WHERE project_id = old.project_id;
    END;

    -- After what changes from now on.
    INSERT INTO stored_videos (video_id, project_id, due_at_ms)
      SELECT v.id, v.project_id, 1 FROM videos v
      WHERE EXISTS (SELECT 1 FROM video_sources s WHERE s.video_id = v.id)
        OR EXISTS (SELECT 1 FROM text_tracks t WHERE t.video_id = v.id)
        OR EXISTS (SELECT 1 FROM video_thumbnails t WHERE t.video_id = v.id)
        OR v.watermark IS NOT NULL;
    INSERT INTO stored_videos (video_id, project_id)
      SELECT video_id, project_id FROM recordings WHERE true ON CONFLICT DO NOTHING;

    CREATE TRIGGER videos_leave_storage AFTER DELETE ON videos BEGIN
      DELETE FROM stored_videos WHERE video_id = old.id;
    END;
    CREATE TRIGGER videos_store_watermarks AFTER INSERT ON videos WHEN new.watermark IS NOT NULL BEGIN ${dueAgain('new.id')}
    END;
    CREATE TRIGGER video_sources_stored AFTER INSERT ON video_sources BEGIN ${dueAgain('new.video_id')}
    END;
    CREATE TRIGGER video_sources_stored_again AFTER UPDATE OF status, bytes ON video_sources BEGIN ${dueAgain('new.video_id')}
    END;
    CREATE TRIGGER renditions_stored AFTER UPDATE OF status, file ON renditions
    WHEN new.status IS NOT old.status OR new.file IS NOT old.file BEGIN ${dueAgain('new.video_id')}
    END;
    CREATE TRIGGER renditions_removed AFTER DELETE ON renditions BEGIN ${dueAgain('old.video_id')}
    END;
    CREATE TRIGGER storyboards_stored AFTER UPDATE OF has_storyboard ON video_encodings BEGIN ${dueAgain('new.video_id')}
    END;
    CREATE TRIGGER thumbnails_stored AFTER INSERT ON video_thumbnails BEGIN ${dueAgain('new.video_id')}
    END;
    CREATE TRIGGER thumbnails_stored_again AFTER UPDATE OF file ON video_thumbnails BEGIN ${dueAgain('new.video_id')}
    END;
    CREATE TRIGGER thumbnails_removed AFTER DELETE ON video_thumbnails BEGIN ${dueAgain('old.video_id')}
    END;
    CREATE TRIGGER text_tracks_stored AFTER INSERT ON text_tracks BEGIN ${dueAgain('new.video_id')}
    END;
    CREATE TRIGGER text_tracks_stored_again AFTER UPDATE OF file ON text_tracks BEGIN ${dueAgain('new.video_id')}
    END;
    CREATE TRIGGER text_tracks_removed AFTER DELETE ON text_tracks BEGIN ${dueAgain('old.video_id')}
    END;
    CREATE TRIGGER recordings_stored AFTER INSERT ON recordings BEGIN
      INSERT INTO stored_videos (video_id, project_id) VALUES (new.video_id, new.project_id)
        ON CONFLICT DO UPDATE SET due_at_ms = 0, changes = changes + 1;
    END;
    -- Either a video by now, or nothing came of it.
    CREATE TRIGGER recordings_end AFTER DELETE ON recordings BEGIN
      UPDATE stored_videos SET due_at_ms = 0, changes = changes + 1 WHERE video_id = old.video_id;
      DELETE FROM stored_videos
        WHERE video_id = old.video_id AND NOT EXISTS (SELECT 1 FROM videos WHERE id = old.video_id);
    END;
  `,
};
