import type { Migration } from '../migration.ts';

/** The publisher that was connected when a broadcast was ended over the API. */
export const cutOffPublishers: Migration = {
  name: 'cut off publishers',
  sql: 'ALTER TABLE live_streams ADD COLUMN cut_off_publisher TEXT;',
};
