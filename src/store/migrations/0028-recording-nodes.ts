import type { Migration } from '../migration.ts';

/** The server that writes a recording, so that another one can finish it. */
export const recordingNodes: Migration = {
  name: 'recording-nodes',
  sql: 'ALTER TABLE recordings ADD COLUMN node_id TEXT;',
};
