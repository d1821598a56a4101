import type { Migration } from '../migration.ts';

/** Sentences about what was mended in uploaded captions and chapters. */
export const textTrackWarnings: Migration = {
  name: 'text track warnings',
  sql: 'ALTER TABLE text_tracks ADD COLUMN warnings TEXT;',
};
