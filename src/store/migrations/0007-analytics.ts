import type { Migration } from '../migration.ts';

const counters = [
  'impressions',
  'plays',
  'starts',
  'ends',
  'impression_ms',
  'impression_times',
  'watch_ms',
  'watches',
  'views3',
  'views5',
  'views10',
  'views30',
]
  .map(name => `${name} INTEGER NOT NULL`)
  .join(', ');

/**
 * Texts are stored once in `analytics_values`, combinations of viewer properties once in `analytics_tuples`.
 * Counts are stored per tuple for minutes and hours, and per value for hours and days (`dimension` 0: all).
 * Times of counts are Unix seconds, of viewing intervals tens of seconds. `used_day` is the last day on which
 * a row was needed.
 */
export const analytics: Migration = {
  name: 'analytics',
  sql: `
    CREATE TABLE analytics_projects (
      number INTEGER PRIMARY KEY,
      project_id TEXT NOT NULL UNIQUE REFERENCES projects (id) ON DELETE CASCADE
    ) STRICT;
    CREATE TABLE analytics_values (
      number INTEGER PRIMARY KEY,
      value TEXT NOT NULL UNIQUE,
      used_day INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE analytics_tuples (
      number INTEGER PRIMARY KEY,
      project INTEGER NOT NULL,
      media_id INTEGER NOT NULL,
      media_type INTEGER NOT NULL,
      continent INTEGER NOT NULL,
      country INTEGER NOT NULL,
      device_type INTEGER NOT NULL,
      operating_system INTEGER NOT NULL,
      browser INTEGER NOT NULL,
      referrer INTEGER NOT NULL,
      used_day INTEGER NOT NULL,
      UNIQUE (project, media_id, media_type, continent, country, device_type, operating_system, browser, referrer)
    ) STRICT;
    CREATE TABLE analytics_minutes (
      project INTEGER NOT NULL, at INTEGER NOT NULL, tuple INTEGER NOT NULL, ${counters},
      PRIMARY KEY (project, at, tuple)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE analytics_hours (
      project INTEGER NOT NULL, at INTEGER NOT NULL, tuple INTEGER NOT NULL, media_id INTEGER NOT NULL, ${counters},
      PRIMARY KEY (project, at, tuple)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX analytics_hours_by_media ON analytics_hours (project, media_id, at);
    CREATE TABLE analytics_sums (
      project INTEGER NOT NULL, dimension INTEGER NOT NULL, span INTEGER NOT NULL CHECK (span IN (3600, 86400)),
      at INTEGER NOT NULL, value INTEGER NOT NULL, ${counters},
      PRIMARY KEY (project, dimension, span, at, value)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE analytics_totals (
      project INTEGER NOT NULL, media_id TEXT NOT NULL, media_type TEXT NOT NULL, plays INTEGER NOT NULL,
      PRIMARY KEY (project, media_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX analytics_totals_by_plays ON analytics_totals (project, plays, media_id);
    CREATE INDEX analytics_totals_by_type ON analytics_totals (project, media_type, media_id);
    CREATE INDEX analytics_totals_by_type_and_plays ON analytics_totals (project, media_type, plays, media_id);
    -- What all media of a type have together, so that no query adds up totals.
    CREATE TABLE analytics_project_totals (
      project INTEGER NOT NULL, media_type TEXT NOT NULL, plays INTEGER NOT NULL, media INTEGER NOT NULL,
      PRIMARY KEY (project, media_type)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER analytics_totals_counted_in AFTER INSERT ON analytics_totals BEGIN
      INSERT INTO analytics_project_totals (project, media_type, plays, media)
        VALUES (new.project, new.media_type, new.plays, 1)
        ON CONFLICT DO UPDATE SET plays = plays + new.plays, media = media + 1;
    END;
    CREATE TRIGGER analytics_totals_counted_again AFTER UPDATE OF plays ON analytics_totals BEGIN
      UPDATE analytics_project_totals SET plays = plays + new.plays - old.plays
        WHERE project = new.project AND media_type = new.media_type;
    END;
    CREATE TABLE analytics_playbacks (
      number INTEGER PRIMARY KEY,
      key BLOB NOT NULL UNIQUE,
      seen INTEGER NOT NULL,
      watched_ms INTEGER NOT NULL,
      last_event_ms REAL NOT NULL,
      touched_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX analytics_playbacks_by_touch ON analytics_playbacks (touched_at_ms);
    CREATE TABLE analytics_stays (
      project INTEGER NOT NULL, begins INTEGER NOT NULL, playback INTEGER NOT NULL, ends INTEGER NOT NULL,
      tuple INTEGER NOT NULL, viewer INTEGER NOT NULL, views INTEGER NOT NULL,
      PRIMARY KEY (project, begins, playback)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE analytics_salts (day INTEGER PRIMARY KEY, salt BLOB NOT NULL) STRICT;
  `,
};
