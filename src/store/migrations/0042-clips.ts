import type { Migration } from '../migration.ts';

/** `clipped_from` is the id of the video or live stream that a clip was copied from. */
export const clips: Migration = {
  name: 'clips',
  sql: `
    ALTER TABLE videos ADD COLUMN clipped_from TEXT;
    ALTER TABLE videos ADD COLUMN clip_precision TEXT CHECK (clip_precision IN ('keyframe', 'frame'));
  `,
};
