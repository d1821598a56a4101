import type { Table } from './table.ts';

const counts = {
  impressions: 'integer NOT NULL',
  plays: 'integer NOT NULL',
  starts: 'integer NOT NULL',
  ends: 'integer NOT NULL',
  impression_ms: 'integer NOT NULL',
  impression_times: 'integer NOT NULL',
  watch_ms: 'integer NOT NULL',
  watches: 'integer NOT NULL',
  views3: 'integer NOT NULL',
  views5: 'integer NOT NULL',
  views10: 'integer NOT NULL',
  views30: 'integer NOT NULL',
};

export const analyticsTables: Readonly<Record<string, Table>> = {
  analytics_projects: {
    columns: {
      number: 'number',
      project_id: 'text UNIQUE REFERENCES projects (id) ON DELETE SET NULL',
    },
  },
  analytics_values: {
    columns: {
      number: 'number',
      value: 'text NOT NULL UNIQUE',
      used_day: 'integer NOT NULL',
    },
  },
  analytics_tuples: {
    postgresName: 'tuples_with_viewers',
    columns: {
      number: 'number',
      project: 'integer NOT NULL',
      media_id: 'integer NOT NULL',
      media_type: 'integer NOT NULL',
      continent: 'integer NOT NULL',
      country: 'integer NOT NULL',
      device_type: 'integer NOT NULL',
      operating_system: 'integer NOT NULL',
      browser: 'integer NOT NULL',
      referrer: 'integer NOT NULL',
      viewer_id: 'integer NOT NULL',
      used_day: 'integer NOT NULL',
    },
    constraints: [
      'UNIQUE (project, media_id, media_type, continent, country, device_type, operating_system, browser, referrer, viewer_id)',
    ],
  },
  analytics_minutes: {
    columns: {
      project: 'integer NOT NULL',
      at: 'integer NOT NULL',
      tuple: 'integer NOT NULL',
      ...counts,
    },
    constraints: ['PRIMARY KEY (project, at, tuple)'],
    isKeyed: true,
  },
  analytics_hours: {
    columns: {
      project: 'integer NOT NULL',
      at: 'integer NOT NULL',
      tuple: 'integer NOT NULL',
      media_id: 'integer NOT NULL',
      ...counts,
    },
    constraints: ['PRIMARY KEY (project, at, tuple)'],
    indexes: { analytics_hours_by_media: '(project, media_id, at)' },
    isKeyed: true,
  },
  analytics_sums: {
    columns: {
      project: 'integer NOT NULL',
      dimension: 'integer NOT NULL',
      span: 'integer NOT NULL CHECK (span IN (3600, 86400))',
      at: 'integer NOT NULL',
      value: 'integer NOT NULL',
      ...counts,
    },
    constraints: ['PRIMARY KEY (project, dimension, span, at, value)'],
    isKeyed: true,
  },
  analytics_totals: {
    columns: {
      project: 'integer NOT NULL',
      media_id: 'text NOT NULL',
      media_type: 'text NOT NULL',
      plays: 'integer NOT NULL',
    },
    constraints: ['PRIMARY KEY (project, media_id)'],
    indexes: {
      analytics_totals_by_plays: '(project, plays, media_id)',
      analytics_totals_by_type: '(project, media_type, media_id)',
      analytics_totals_by_type_and_plays: '(project, media_type, plays, media_id)',
    },
    isKeyed: true,
  },
  analytics_project_totals: {
    columns: {
      project: 'integer NOT NULL',
      media_type: 'text NOT NULL',
      plays: 'integer NOT NULL',
      media: 'integer NOT NULL',
    },
    constraints: ['PRIMARY KEY (project, media_type)'],
    isKeyed: true,
  },
  analytics_playbacks: {
    columns: {
      number: 'number',
      key: 'bytes NOT NULL UNIQUE',
      seen: 'integer NOT NULL',
      watched_ms: 'integer NOT NULL',
      last_event_ms: 'real NOT NULL',
      touched_at_ms: 'integer NOT NULL',
      progress: 'text',
    },
    indexes: { analytics_playbacks_by_touch: '(touched_at_ms)' },
  },
  analytics_stays: {
    columns: {
      project: 'integer NOT NULL',
      begins: 'integer NOT NULL',
      playback: 'integer NOT NULL',
      ends: 'integer NOT NULL',
      tuple: 'integer NOT NULL',
      viewer: 'integer NOT NULL',
      views: 'integer NOT NULL',
    },
    constraints: ['PRIMARY KEY (project, begins, playback)'],
    isKeyed: true,
  },
  analytics_salts: {
    columns: {
      day: 'integer PRIMARY KEY',
      salt: 'bytes NOT NULL',
    },
  },
};
