import type { Migration } from '../migration.ts';

/** `playback_policy` is JSON. */
export const signedPlayback: Migration = {
  name: 'signed playback',
  sql: `
    CREATE TABLE signing_keys (
      id TEXT PRIMARY KEY,
      project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      algorithm TEXT NOT NULL CHECK (algorithm IN ('ES256', 'EdDSA', 'RS256')),
      public_key TEXT NOT NULL,
      created_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX signing_keys_by_creation ON signing_keys (project_id, created_at_ms, id);
    ALTER TABLE projects ADD COLUMN playback_policy TEXT;
    ALTER TABLE live_streams ADD COLUMN playback_policy TEXT;
    ALTER TABLE videos ADD COLUMN playback_policy TEXT;
  `,
};
