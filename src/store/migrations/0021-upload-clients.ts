import type { Migration } from '../migration.ts';

/** Later pieces of an upload with a token must come from the same client. */
export const uploadClients: Migration = {
  name: 'upload clients',
  sql: `
    -- A hash of the client's address and user agent.
    ALTER TABLE video_sources ADD COLUMN upload_client TEXT;
    ALTER TABLE video_sources ADD COLUMN upload_file_name TEXT;
    -- The video itself was created by the upload.
    ALTER TABLE video_sources ADD COLUMN has_created_video INTEGER NOT NULL DEFAULT 0 CHECK (has_created_video IN (0, 1));
  `,
};
