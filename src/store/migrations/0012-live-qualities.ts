import type { Migration } from '../migration.ts';

export const liveQualities: Migration = {
  name: 'live qualities',
  sql: `
    ALTER TABLE live_streams ADD COLUMN qualities TEXT CHECK (qualities IN ('passthrough', 'ladder'));
  `,
};
