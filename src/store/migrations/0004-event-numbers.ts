import type { Migration } from '../migration.ts';

/** Numbers events per project, so that one project learns nothing about the others. */
export const eventNumbers: Migration = {
  name: 'event numbers',
  sql: `
    ALTER TABLE events ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
    UPDATE events SET number = counted.number
      FROM (SELECT id, row_number() OVER (PARTITION BY project_id ORDER BY id) AS number FROM events) AS counted
      WHERE counted.id = events.id;
    DROP INDEX events_by_project;
    CREATE UNIQUE INDEX events_by_project ON events (project_id, number);

    CREATE TABLE event_counters (
      project_id TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
      last INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO event_counters (project_id, last) SELECT project_id, max(number) FROM events GROUP BY project_id;
  `,
};
