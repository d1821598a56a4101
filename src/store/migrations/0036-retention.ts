import type { Migration } from '../migration.ts';

/** `expiry_notice_at_ms` is the time at which the owner is told, and null once that happened. Discarded videos have neither. */
export const retention: Migration = {
  name: 'retention',
  sql: `
    ALTER TABLE projects ADD COLUMN keep_videos_days INTEGER CHECK (keep_videos_days > 0);
    ALTER TABLE live_streams ADD COLUMN keep_recordings_days INTEGER CHECK (keep_recordings_days > 0);
    ALTER TABLE videos ADD COLUMN expires_at_ms INTEGER;
    ALTER TABLE videos ADD COLUMN expiry_notice_at_ms INTEGER;
    CREATE INDEX videos_by_expiry ON videos (expires_at_ms) WHERE expires_at_ms IS NOT NULL;
    CREATE INDEX videos_of_project_by_expiry ON videos (project_id, expires_at_ms) WHERE expires_at_ms IS NOT NULL;
    CREATE INDEX videos_by_expiry_notice ON videos (expiry_notice_at_ms) WHERE expiry_notice_at_ms IS NOT NULL;
  `,
};
