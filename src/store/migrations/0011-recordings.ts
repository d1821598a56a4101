import type { Migration } from '../migration.ts';

export const recordings: Migration = {
  name: 'recordings',
  sql: `
    -- What the video takes from the live stream is kept beside it: the stream may be deleted before.
    CREATE TABLE recordings (
      video_id TEXT PRIMARY KEY,
      project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      live_stream_id TEXT NOT NULL,
      broadcast_id TEXT NOT NULL,
      started_at_ms INTEGER NOT NULL,
      title TEXT NOT NULL,
      is_public INTEGER NOT NULL CHECK (is_public IN (0, 1)),
      player_id TEXT
    ) STRICT, WITHOUT ROWID;
  `,
};
