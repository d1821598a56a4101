import type { Migration } from '../migration.ts';

/** Chunks in object storage have names that are never used again. */
export const storedChunks: Migration = {
  name: 'stored chunks',
  sql: `
    -- In the folder of the upload; null: the number of its first byte or part.
    ALTER TABLE upload_chunks ADD COLUMN file TEXT;
  `,
};
