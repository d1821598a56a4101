import type { Migration } from '../migration.ts';

export const liveRecording: Migration = {
  name: 'live recording',
  sql: `
    ALTER TABLE live_streams ADD COLUMN is_recorded INTEGER CHECK (is_recorded IN (0, 1));
  `,
};
