import type { Migration } from '../migration.ts';

/** Texts that are generated for new videos of a project, and the reason why a summary has none. */
export const videoDefaults: Migration = {
  name: 'video defaults',
  sql: `
    ALTER TABLE projects ADD COLUMN has_transcripts INTEGER NOT NULL DEFAULT 0 CHECK (has_transcripts IN (0, 1));
    ALTER TABLE projects ADD COLUMN has_summaries INTEGER NOT NULL DEFAULT 0 CHECK (has_summaries IN (0, 1));
    ALTER TABLE projects ADD COLUMN has_recording_texts INTEGER NOT NULL DEFAULT 1 CHECK (has_recording_texts IN (0, 1));
    ALTER TABLE summaries ADD COLUMN failure TEXT;
  `,
};
