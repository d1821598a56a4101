import type { Migration } from '../migration.ts';
import { addColumn, createIndexes, createTable } from '../schema/table.ts';

const listed = 'WHERE is_listed = 1 AND is_public = 1 AND discarded_at_ms IS NULL';

/** Adds the public page of a project, and marks the videos and live streams that it lists: none of those that exist. */
export const channels: Migration = {
  name: 'channels',
  sql: dialect => `${createTable(dialect, 'channels', {
    columns: {
      project_id: 'text PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE',
      is_enabled: 'integer NOT NULL DEFAULT 0',
      slug: 'text UNIQUE',
      name: 'text NOT NULL',
      description: 'text NOT NULL',
      accent_color: 'text',
      logo: 'bytes',
      logo_type: 'text',
      updated_at_ms: 'integer NOT NULL',
    },
    isKeyed: true,
  })}
    ${addColumn(dialect, 'videos', 'is_listed', 'integer NOT NULL DEFAULT 0')}
    ${addColumn(dialect, 'live_streams', 'is_listed', 'integer NOT NULL DEFAULT 0')}
    ${addColumn(dialect, 'live_streams', 'shows_viewers', 'integer NOT NULL DEFAULT 0')}
    ${createIndexes(dialect, 'videos', {
      columns: {},
      // Searches look through the titles. Those of PostgreSQL can be too long for an index.
      indexes: { videos_listed: `(project_id, published_at_ms, id, title_folded) ${listed}` },
      postgresIndexes: { videos_listed: `(project_id, published_at_ms, id) ${listed}` },
    })}
    ${createIndexes(dialect, 'live_streams', {
      columns: {},
      indexes: { live_streams_listed: '(project_id, created_at_ms) WHERE is_listed = 1 AND is_public = 1' },
    })}`,
};
