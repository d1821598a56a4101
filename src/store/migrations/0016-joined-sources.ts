import type { Migration } from '../migration.ts';

/** Which sources were put together from several files, whose picture and sound change in the middle; their copies are such too. */
export const joinedSources: Migration = {
  name: 'joined sources',
  sql: `
    ALTER TABLE video_sources ADD COLUMN is_joined INTEGER NOT NULL DEFAULT 0 CHECK (is_joined IN (0, 1));
  `,
};
