import type { Migration } from '../migration.ts';

export const videos: Migration = {
  name: 'videos',
  sql: `
    CREATE TABLE videos (
      number INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      title TEXT NOT NULL,
      title_folded TEXT NOT NULL,
      is_public INTEGER NOT NULL CHECK (is_public IN (0, 1)),
      is_panoramic INTEGER NOT NULL CHECK (is_panoramic IN (0, 1)),
      has_mp4_support INTEGER NOT NULL CHECK (has_mp4_support IN (0, 1)),
      player_id TEXT,
      tags TEXT NOT NULL CHECK (json_type(tags) = 'array'),
      metadata TEXT NOT NULL CHECK (json_type(metadata) = 'array'),
      language TEXT,
      live_stream_id TEXT,
      clip_start_ms INTEGER,
      clip_end_ms INTEGER,
      watermark TEXT CHECK (watermark IS NULL OR json_type(watermark) = 'object'),
      created_at_ms INTEGER NOT NULL,
      published_at_ms INTEGER NOT NULL,
      updated_at_ms INTEGER NOT NULL,
      discarded_at_ms INTEGER,
      deletes_at_ms INTEGER,
      is_discarded INTEGER NOT NULL DEFAULT 0 CHECK (is_discarded = (discarded_at_ms IS NOT NULL)),
      description TEXT NOT NULL,
      description_folded TEXT NOT NULL DEFAULT '',
      CHECK ((discarded_at_ms IS NULL) = (deletes_at_ms IS NULL))
    ) STRICT;

    CREATE TABLE video_sources (
      video_id TEXT PRIMARY KEY REFERENCES videos (id) ON DELETE CASCADE,
      origin TEXT NOT NULL CHECK (origin IN ('upload', 'url', 'clone', 'recording')),
      form TEXT CHECK (form IN ('plain', 'bytes', 'parts')),
      status TEXT NOT NULL CHECK (status IN ('uploading', 'assembling', 'uploaded', 'ingesting', 'ingested', 'failed')),
      address TEXT,
      upload_token TEXT,
      total INTEGER,
      bytes INTEGER,
      failure TEXT,
      started_at_ms INTEGER NOT NULL,
      completed_at_ms INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX video_sources_open ON video_sources (started_at_ms)
      WHERE status IN ('uploading', 'assembling', 'ingesting');
    CREATE INDEX video_sources_by_token ON video_sources (upload_token, started_at_ms)
      WHERE status = 'uploading' AND upload_token IS NOT NULL;

    CREATE TABLE upload_chunks (
      video_id TEXT NOT NULL REFERENCES videos (id) ON DELETE CASCADE,
      first INTEGER NOT NULL,
      last INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      digest BLOB NOT NULL,
      PRIMARY KEY (video_id, first),
      CHECK (last >= first)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE upload_tokens (
      token TEXT PRIMARY KEY,
      project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      ttl_seconds INTEGER NOT NULL,
      created_at_ms INTEGER NOT NULL,
      expires_at_ms INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX upload_tokens_by_creation ON upload_tokens (project_id, created_at_ms, token);
    CREATE INDEX upload_tokens_by_ttl ON upload_tokens (project_id, ttl_seconds, token);
    CREATE INDEX upload_tokens_by_expiry ON upload_tokens (expires_at_ms) WHERE expires_at_ms IS NOT NULL;
    CREATE TRIGGER upload_tokens_counted_in AFTER INSERT ON upload_tokens BEGIN
      INSERT INTO list_totals (project_id, list, total) VALUES (new.project_id, 'upload-tokens', 1)
        ON CONFLICT DO UPDATE SET total = total + 1;
    END;
    CREATE TRIGGER upload_tokens_counted_out AFTER DELETE ON upload_tokens BEGIN
      UPDATE list_totals SET total = total - 1 WHERE project_id = old.project_id AND list = 'upload-tokens';
    END;

    CREATE TABLE video_encodings (
      video_id TEXT PRIMARY KEY REFERENCES videos (id) ON DELETE CASCADE,
      facts TEXT NOT NULL CHECK (json_type(facts) = 'object'),
      target_duration_seconds INTEGER,
      is_playable INTEGER NOT NULL DEFAULT 0 CHECK (is_playable IN (0, 1)),
      has_storyboard INTEGER NOT NULL DEFAULT 0 CHECK (has_storyboard IN (0, 1)),
      failure TEXT,
      revision INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE renditions (
      video_id TEXT NOT NULL REFERENCES videos (id) ON DELETE CASCADE,
      type TEXT NOT NULL CHECK (type IN ('hls', 'mp4', 'audio')),
      quality TEXT NOT NULL,
      position INTEGER NOT NULL,
      status TEXT NOT NULL CHECK (status IN ('waiting', 'encoding', 'encoded', 'failed')),
      progress_percent INTEGER NOT NULL DEFAULT 0,
      file TEXT,
      facts TEXT,
      PRIMARY KEY (video_id, type, quality)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE video_thumbnails (
      video_id TEXT PRIMARY KEY REFERENCES videos (id) ON DELETE CASCADE,
      choice TEXT NOT NULL CHECK (choice IN ('default', 'timecode', 'upload')),
      timecode TEXT,
      file TEXT,
      CHECK ((choice = 'timecode') = (timecode IS NOT NULL))
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE watermarks (
      id TEXT PRIMARY KEY,
      project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      media_type TEXT NOT NULL,
      width INTEGER NOT NULL,
      height INTEGER NOT NULL,
      created_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX watermarks_by_creation ON watermarks (project_id, created_at_ms, id);
    CREATE TRIGGER watermarks_counted_in AFTER INSERT ON watermarks BEGIN
      INSERT INTO list_totals (project_id, list, total) VALUES (new.project_id, 'watermarks', 1)
        ON CONFLICT DO UPDATE SET total = total + 1;
    END;
    CREATE TRIGGER watermarks_counted_out AFTER DELETE ON watermarks BEGIN
      UPDATE list_totals SET total = total - 1 WHERE project_id = old.project_id AND list = 'watermarks';
    END;

    CREATE TABLE private_sessions (
      token_hash BLOB PRIMARY KEY CHECK (length(token_hash) = 32),
      resource_id TEXT NOT NULL,
      client_hash BLOB NOT NULL CHECK (length(client_hash) = 32),
      expires_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX private_sessions_by_expiry ON private_sessions (expires_at_ms);

    CREATE TABLE jobs (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      kind TEXT NOT NULL,
      lane TEXT NOT NULL,
      subject_id TEXT NOT NULL,
      payload TEXT NOT NULL CHECK (json_valid(payload)),
      priority INTEGER NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'failed')),
      attempts INTEGER NOT NULL DEFAULT 0,
      progress_percent INTEGER NOT NULL DEFAULT 0,
      run_at_ms INTEGER NOT NULL,
      lease_until_ms INTEGER,
      failure TEXT,
      created_at_ms INTEGER NOT NULL,
      failed_at_ms INTEGER,
      CHECK ((state = 'running') = (lease_until_ms IS NOT NULL)),
      CHECK ((state = 'failed') = (failed_at_ms IS NOT NULL))
    ) STRICT;
    CREATE INDEX jobs_due ON jobs (lane, priority DESC, id) WHERE state = 'waiting';
    CREATE INDEX jobs_by_time ON jobs (lane, run_at_ms) WHERE state = 'waiting';
    CREATE INDEX jobs_by_subject ON jobs (subject_id);
    CREATE INDEX jobs_by_state ON jobs (lane, state);
    CREATE INDEX jobs_failed ON jobs (failed_at_ms) WHERE state = 'failed';

    CREATE TABLE events (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      type TEXT NOT NULL,
      subject_id TEXT NOT NULL,
      payload TEXT NOT NULL CHECK (json_type(payload) = 'object'),
      created_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX events_by_creation ON events (created_at_ms);
    CREATE INDEX events_by_project ON events (project_id, id);
  `,
};
