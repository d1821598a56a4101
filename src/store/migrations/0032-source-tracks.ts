import type { Migration } from '../migration.ts';

/** The audio tracks of sources as JSON, and whether the captions of a source were stored: they must not return once deleted. */
export const sourceTracks: Migration = {
  name: 'source tracks',
  sql: `
    ALTER TABLE video_encodings ADD COLUMN audio_tracks TEXT;
    ALTER TABLE video_encodings ADD COLUMN has_source_captions INTEGER NOT NULL DEFAULT 0
      CHECK (has_source_captions IN (0, 1));
  `,
};
