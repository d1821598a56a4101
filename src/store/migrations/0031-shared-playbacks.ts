import type { Migration } from '../migration.ts';

/** The rest of a playback's state as JSON, so that its next report may reach another server. */
export const sharedPlaybacks: Migration = {
  name: 'shared playbacks',
  sql: `
    ALTER TABLE analytics_playbacks ADD COLUMN progress TEXT;
  `,
};
