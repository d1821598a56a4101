import type { Migration } from '../migration.ts';

/** `generation` of a summary hides its `source_status` while the text is generated, and after a failure. */
export const transcripts: Migration = {
  name: 'transcripts',
  sql: `
    CREATE TABLE transcripts (
      video_id TEXT PRIMARY KEY REFERENCES videos (id) ON DELETE CASCADE,
      status TEXT NOT NULL CHECK (status IN ('waiting', 'processing', 'completed', 'failed')),
      progress_percent INTEGER NOT NULL DEFAULT 0,
      language TEXT,
      failure TEXT
    ) STRICT;
    CREATE TABLE transcript_parts (
      video_id TEXT NOT NULL REFERENCES transcripts (video_id) ON DELETE CASCADE,
      start_ms INTEGER NOT NULL,
      end_ms INTEGER NOT NULL,
      language TEXT,
      segments TEXT NOT NULL,
      PRIMARY KEY (video_id, start_ms)
    ) STRICT;
    ALTER TABLE text_tracks ADD COLUMN is_generated INTEGER NOT NULL DEFAULT 0 CHECK (is_generated IN (0, 1));
    ALTER TABLE videos ADD COLUMN is_language_detected INTEGER NOT NULL DEFAULT 0 CHECK (is_language_detected IN (0, 1));
    ALTER TABLE summaries ADD COLUMN origin TEXT NOT NULL DEFAULT 'api' CHECK (origin IN ('api', 'auto'));
    ALTER TABLE summaries ADD COLUMN generation TEXT CHECK (generation IN ('waiting', 'failed', 'unprocessable'));
    ALTER TABLE summaries ADD COLUMN attributes TEXT;
  `,
};
