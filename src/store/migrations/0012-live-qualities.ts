import type { Migration } from '../migration.ts';

/** Which qualities a live stream is delivered in, where its owner says so. */
export const liveQualities: Migration = {
  name: 'live qualities',
  sql: `
    ALTER TABLE live_streams ADD COLUMN qualities TEXT CHECK (qualities IN ('passthrough', 'ladder'));
  `,
};
