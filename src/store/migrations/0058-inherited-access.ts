import type { Migration } from '../migration.ts';

/**
 * Clips and copies follow the video or live stream that `public_from` and `policy_from` name, until they have their own value.
 * `viewer_limits` is JSON.
 */
export const inheritedAccess: Migration = {
  name: 'inherited access',
  sql: `
    ALTER TABLE videos ADD COLUMN public_from TEXT;
    ALTER TABLE videos ADD COLUMN policy_from TEXT;
    ALTER TABLE videos ADD COLUMN viewer_limits TEXT;
    CREATE INDEX videos_by_public_from ON videos (public_from) WHERE public_from IS NOT NULL;
    CREATE INDEX videos_by_policy_from ON videos (policy_from) WHERE policy_from IS NOT NULL;
  `,
};
