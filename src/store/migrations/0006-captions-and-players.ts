import type { Migration } from '../migration.ts';

export const captionsAndPlayers: Migration = {
  name: 'captions and players',
  sql: `
    CREATE TABLE text_tracks (
      video_id TEXT NOT NULL REFERENCES videos (id) ON DELETE CASCADE,
      kind TEXT NOT NULL CHECK (kind IN ('captions', 'chapters')),
      language TEXT NOT NULL,
      is_default INTEGER NOT NULL DEFAULT 0 CHECK (is_default IN (0, 1)),
      file TEXT NOT NULL,
      bytes INTEGER NOT NULL,
      PRIMARY KEY (video_id, kind, language),
      CHECK (is_default = 0 OR kind = 'captions')
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX text_tracks_default ON text_tracks (video_id) WHERE is_default = 1;

    CREATE TABLE players (
      id TEXT PRIMARY KEY,
      project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      name TEXT,
      name_folded TEXT NOT NULL,
      look TEXT NOT NULL CHECK (json_type(look) = 'object'),
      logo_file TEXT,
      logo_bytes INTEGER,
      link TEXT,
      created_at_ms INTEGER NOT NULL,
      updated_at_ms INTEGER NOT NULL,
      CHECK ((logo_file IS NULL) = (logo_bytes IS NULL)),
      CHECK (link IS NULL OR logo_file IS NOT NULL)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX players_by_name ON players (project_id, name_folded, id);
    CREATE INDEX players_by_creation ON players (project_id, created_at_ms, id);
    CREATE INDEX players_by_update ON players (project_id, updated_at_ms, id);
    CREATE TRIGGER players_counted_in AFTER INSERT ON players BEGIN
      INSERT INTO list_totals (project_id, list, total) VALUES (new.project_id, 'players', 1)
        ON CONFLICT DO UPDATE SET total = total + 1;
    END;
    CREATE TRIGGER players_counted_out AFTER DELETE ON players BEGIN
      UPDATE list_totals SET total = total - 1 WHERE project_id = old.project_id AND list = 'players';
    END;

    -- Themes that are gone while rows still name them.
    CREATE TABLE removed_players (
      id TEXT PRIMARY KEY
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX videos_by_player ON videos (player_id) WHERE player_id IS NOT NULL;
    CREATE INDEX live_streams_by_player ON live_streams (player_id) WHERE player_id IS NOT NULL;
  `,
};
