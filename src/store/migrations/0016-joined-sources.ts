import type { Migration } from '../migration.ts';

/** Marks sources that were joined from several files, whose media changes in the middle, and their copies. */
export const joinedSources: Migration = {
  name: 'joined sources',
  sql: `
    ALTER TABLE video_sources ADD COLUMN is_joined INTEGER NOT NULL DEFAULT 0 CHECK (is_joined IN (0, 1));
  `,
};
