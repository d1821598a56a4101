import type { Migration } from '../migration.ts';

/** Numbers of which counts are left although their project was deleted. */
const orphaned = (table: string) => `
    INSERT INTO ${table} (number, project_id)
      SELECT DISTINCT project, NULL FROM analytics_tuples
      WHERE project NOT IN (SELECT number FROM analytics_projects);`;

/**
 * The number of a deleted project stays without its project until its counts are deleted, which takes longer than a transaction
 * may. SQLite would give the number, and so the counts, to the next project.
 */
export const removedAnalytics: Migration = {
  name: 'removed analytics',
  sql: `
    CREATE TABLE numbered_projects (
      number INTEGER PRIMARY KEY,
      project_id TEXT UNIQUE REFERENCES projects (id) ON DELETE SET NULL
    ) STRICT;
    INSERT INTO numbered_projects (number, project_id) SELECT number, project_id FROM analytics_projects;
    ${orphaned('numbered_projects')}
    DROP TABLE analytics_projects;
    ALTER TABLE numbered_projects RENAME TO analytics_projects;
  `,
  sqlOfPostgres: `
    ALTER TABLE analytics_projects ALTER COLUMN project_id DROP NOT NULL;
    ALTER TABLE analytics_projects DROP CONSTRAINT analytics_projects_project_id_fkey;
    ALTER TABLE analytics_projects ADD FOREIGN KEY (project_id) REFERENCES projects (id) ON DELETE SET NULL;
    ${orphaned('analytics_projects')}
  `,
};
