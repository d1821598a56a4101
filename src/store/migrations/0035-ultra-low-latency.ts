import type { Migration } from '../migration.ts';

/** Live streams that are delivered over WebRTC too; unset is no. */
export const ultraLowLatency: Migration = {
  name: 'ultra low latency',
  sql: `
    ALTER TABLE live_streams ADD COLUMN is_ultra_low_latency INTEGER CHECK (is_ultra_low_latency IN (0, 1));
  `,
};
