import type { Migration } from '../migration.ts';

export const accountsAndLiveStreams: Migration = {
  name: 'accounts and live streams',
  sql: `
    CREATE TABLE secrets (
      name TEXT PRIMARY KEY,
      bytes BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE accounts (
      id TEXT PRIMARY KEY,
      is_upgraded INTEGER NOT NULL CHECK (is_upgraded IN (0, 1)),
      is_suspended INTEGER NOT NULL CHECK (is_suspended IN (0, 1)),
      created_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE projects (
      id TEXT PRIMARY KEY,
      account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
      environment TEXT NOT NULL CHECK (environment IN ('sandbox', 'production')),
      created_at_ms INTEGER NOT NULL,
      UNIQUE (account_id, environment)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE api_keys (
      id TEXT PRIMARY KEY,
      pair_id TEXT NOT NULL,
      project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      key_hash BLOB NOT NULL UNIQUE CHECK (length(key_hash) = 32),
      created_at_ms INTEGER NOT NULL,
      last_used_at_ms INTEGER,
      UNIQUE (pair_id, project_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX api_keys_by_project ON api_keys (project_id);

    CREATE TABLE access_tokens (
      token_hash BLOB PRIMARY KEY CHECK (length(token_hash) = 32),
      api_key_id TEXT NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
      expires_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX access_tokens_by_key ON access_tokens (api_key_id);
    CREATE INDEX access_tokens_by_expiry ON access_tokens (expires_at_ms);

    CREATE TABLE refresh_tokens (
      token_hash BLOB PRIMARY KEY CHECK (length(token_hash) = 32),
      api_key_id TEXT NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
      expires_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX refresh_tokens_by_key ON refresh_tokens (api_key_id);
    CREATE INDEX refresh_tokens_by_expiry ON refresh_tokens (expires_at_ms);

    CREATE TABLE users (
      id TEXT PRIMARY KEY,
      account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
      email TEXT NOT NULL UNIQUE COLLATE NOCASE,
      password_hash TEXT NOT NULL,
      created_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX users_by_account ON users (account_id);

    CREATE TABLE list_totals (
      project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      list TEXT NOT NULL,
      total INTEGER NOT NULL CHECK (total >= 0),
      PRIMARY KEY (project_id, list)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE live_streams (
      id TEXT PRIMARY KEY,
      project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      name_folded TEXT NOT NULL,
      stream_key TEXT NOT NULL UNIQUE,
      is_public INTEGER NOT NULL CHECK (is_public IN (0, 1)),
      player_id TEXT,
      restreams TEXT NOT NULL CHECK (json_valid(restreams) AND json_type(restreams) = 'array'),
      thumbnail_type TEXT,
      created_at_ms INTEGER NOT NULL,
      updated_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX live_streams_by_name ON live_streams (project_id, name_folded, id);
    CREATE INDEX live_streams_by_creation ON live_streams (project_id, created_at_ms, id);
    CREATE INDEX live_streams_by_update ON live_streams (project_id, updated_at_ms, id);
    CREATE TRIGGER live_streams_counted_in AFTER INSERT ON live_streams BEGIN
      INSERT INTO list_totals (project_id, list, total) VALUES (new.project_id, 'live-streams', 1)
        ON CONFLICT DO UPDATE SET total = total + 1;
    END;
    CREATE TRIGGER live_streams_counted_out AFTER DELETE ON live_streams BEGIN
      UPDATE list_totals SET total = total - 1 WHERE project_id = old.project_id AND list = 'live-streams';
    END;

    CREATE TABLE broadcasts (
      id TEXT PRIMARY KEY,
      project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      live_stream_id TEXT NOT NULL REFERENCES live_streams (id) ON DELETE CASCADE,
      state TEXT NOT NULL,
      started_at_ms INTEGER NOT NULL,
      ended_at_ms INTEGER,
      end_reason TEXT,
      protocol TEXT NOT NULL,
      remote_address TEXT NOT NULL,
      encoder TEXT NOT NULL,
      video_codec TEXT,
      audio_codec TEXT,
      width INTEGER,
      height INTEGER,
      CHECK ((ended_at_ms IS NULL) = (end_reason IS NULL))
    ) STRICT;
    CREATE INDEX broadcasts_by_live_stream ON broadcasts (live_stream_id, started_at_ms);
    CREATE INDEX broadcasts_by_project ON broadcasts (project_id, started_at_ms);
    CREATE INDEX broadcasts_open ON broadcasts (id) WHERE ended_at_ms IS NULL;
  `,
};
