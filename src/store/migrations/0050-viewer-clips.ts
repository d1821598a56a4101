import type { Migration } from '../migration.ts';

/** Live streams that viewers may clip; unset is no. */
export const viewerClips: Migration = {
  name: 'viewer clips',
  sql: `
    ALTER TABLE live_streams ADD COLUMN has_viewer_clips INTEGER CHECK (has_viewer_clips IN (0, 1));
  `,
};
