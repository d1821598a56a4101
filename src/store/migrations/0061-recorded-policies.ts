import type { Migration } from '../migration.ts';

/** A recording whose live stream is deleted keeps who may play it. */
export const recordedPolicies: Migration = {
  name: 'recorded policies',
  sql: `
    ALTER TABLE recordings ADD COLUMN playback_policy TEXT;
    UPDATE recordings SET playback_policy =
      (SELECT playback_policy FROM live_streams WHERE live_streams.id = recordings.live_stream_id);
  `,
};
