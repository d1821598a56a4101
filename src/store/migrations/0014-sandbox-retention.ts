import type { Migration } from '../migration.ts';

const entry = `
      INSERT INTO sandbox_videos (completed_at_ms, video_id)
        SELECT new.completed_at_ms, v.id FROM videos v JOIN projects p ON p.id = v.project_id
        WHERE v.id = new.video_id AND p.environment = 'sandbox' AND new.completed_at_ms IS NOT NULL`;
const noEntry = `
      DELETE FROM sandbox_videos WHERE completed_at_ms = old.completed_at_ms AND video_id = old.video_id`;

/** Finds sandbox videos by the time of their source. Encodes those without a trial mark again. */
export const sandboxRetention: Migration = {
  name: 'sandbox retention',
  sql: `
    CREATE TABLE sandbox_videos (
      completed_at_ms INTEGER NOT NULL,
      video_id TEXT NOT NULL,
      PRIMARY KEY (completed_at_ms, video_id)
    ) STRICT, WITHOUT ROWID;
    UPDATE video_sources SET completed_at_ms = started_at_ms WHERE status = 'failed';
    INSERT INTO sandbox_videos (completed_at_ms, video_id)
      SELECT s.completed_at_ms, v.id
      FROM video_sources s JOIN videos v ON v.id = s.video_id JOIN projects p ON p.id = v.project_id
      WHERE p.environment = 'sandbox' AND s.completed_at_ms IS NOT NULL;
    -- What was made before it was marked is shown no more, and made anew where there is a source.
    UPDATE live_streams SET thumbnail_type = NULL
      WHERE project_id IN (SELECT id FROM projects WHERE environment = 'sandbox');
    CREATE TEMP TABLE unmarked AS
      SELECT v.id, s.status IN ('uploaded', 'ingested') AS has_source
      FROM videos v JOIN projects p ON p.id = v.project_id LEFT JOIN video_sources s ON s.video_id = v.id
      WHERE p.environment = 'sandbox';
    DELETE FROM renditions WHERE video_id IN (SELECT id FROM unmarked);
    UPDATE video_encodings
      SET is_playable = 0, has_storyboard = 0, failure = NULL, target_duration_seconds = NULL, revision = revision + 1
      WHERE video_id IN (SELECT id FROM unmarked WHERE has_source);
    DELETE FROM video_thumbnails WHERE choice = 'upload' AND video_id IN (SELECT id FROM unmarked);
    UPDATE video_thumbnails SET file = NULL WHERE video_id IN (SELECT id FROM unmarked);
    DELETE FROM jobs
      WHERE kind IN ('prepare', 'encode', 'mp4', 'stills', 'frame') AND subject_id IN (SELECT id FROM unmarked);
    INSERT INTO jobs (kind, lane, subject_id, payload, priority, state, run_at_ms, created_at_ms)
      SELECT 'prepare', 'prepare', id, 'null', 0, 'waiting', 0, 0 FROM unmarked WHERE has_source;
    DROP TABLE unmarked;
    CREATE TRIGGER video_sources_complete_at_once AFTER INSERT ON video_sources BEGIN ${entry};
    END;
    CREATE TRIGGER video_sources_complete AFTER UPDATE OF completed_at_ms ON video_sources BEGIN ${noEntry};${entry};
    END;
    CREATE TRIGGER video_sources_leave_sandbox AFTER DELETE ON video_sources BEGIN ${noEntry};
    END;
  `,
};
