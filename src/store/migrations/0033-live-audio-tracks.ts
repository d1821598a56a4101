import type { Migration } from '../migration.ts';

/** Names and languages of a live stream's audio tracks, as JSON. */
export const liveAudioTracks: Migration = {
  name: 'live audio tracks',
  sql: 'ALTER TABLE live_streams ADD COLUMN audio_tracks TEXT;',
};
