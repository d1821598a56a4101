import type { Migration } from '../migration.ts';

const columns = [
  'project',
  'media_id',
  'media_type',
  'continent',
  'country',
  'device_type',
  'operating_system',
  'browser',
  'referrer',
];

/** SQLite cannot add a column to a constraint: the table is made again. Earlier playbacks have no viewer id. */
export const analyticsViewers: Migration = {
  name: 'analytics viewers',
  isCompatible: false,
  sql: `
    INSERT INTO analytics_values (value, used_day)
      SELECT '', max(used_day) FROM analytics_tuples HAVING count(*) > 0
      ON CONFLICT (value) DO UPDATE SET used_day = excluded.used_day;
    CREATE TABLE tuples_with_viewers (
      number INTEGER PRIMARY KEY,
      ${columns.map(name => `${name} INTEGER NOT NULL,`).join(' ')}
      viewer_id INTEGER NOT NULL,
      used_day INTEGER NOT NULL,
      UNIQUE (${columns.join(', ')}, viewer_id)
    ) STRICT;
    INSERT INTO tuples_with_viewers (number, ${columns.join(', ')}, viewer_id, used_day)
      SELECT number, ${columns.join(', ')}, (SELECT number FROM analytics_values WHERE value = ''), used_day
      FROM analytics_tuples;
    DROP TABLE analytics_tuples;
    ALTER TABLE tuples_with_viewers RENAME TO analytics_tuples;
  `,
  afterwardsOnPostgres: `
    SELECT setval(pg_get_serial_sequence('analytics_tuples', 'number'), coalesce(max(number), 0) + 1, false)
      FROM analytics_tuples;
  `,
};
