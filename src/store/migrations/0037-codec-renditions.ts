import type { Migration } from '../migration.ts';

/** HLS renditions in further codecs. A table of their own: nodes of the previous version take all of `renditions` for H.264. */
export const codecRenditions: Migration = {
  name: 'codec renditions',
  sql: `
    CREATE TABLE codec_renditions (
      video_id TEXT NOT NULL REFERENCES videos (id) ON DELETE CASCADE,
      codec TEXT NOT NULL CHECK (codec IN ('hevc', 'av1')),
      quality TEXT NOT NULL,
      position INTEGER NOT NULL,
      status TEXT NOT NULL CHECK (status IN ('waiting', 'encoding', 'encoded', 'failed')),
      progress_percent INTEGER NOT NULL DEFAULT 0,
      file TEXT,
      facts TEXT,
      PRIMARY KEY (video_id, codec, quality)
    ) STRICT;
  `,
};
