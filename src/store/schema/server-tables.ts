import type { Table } from './table.ts';

export const serverTables: Readonly<Record<string, Table>> = {
  jobs: {
    columns: {
      id: 'uniqueNumber',
      kind: 'text NOT NULL',
      lane: 'text NOT NULL',
      subject_id: 'text NOT NULL',
      payload: 'json NOT NULL',
      priority: 'integer NOT NULL',
      state: "text NOT NULL CHECK (state IN ('waiting', 'running', 'failed'))",
      attempts: 'integer NOT NULL DEFAULT 0',
      progress_percent: 'integer NOT NULL DEFAULT 0',
      run_at_ms: 'integer NOT NULL',
      lease_until_ms: 'integer',
      failure: 'text',
      created_at_ms: 'integer NOT NULL',
      failed_at_ms: 'integer',
      group_id: "text NOT NULL DEFAULT ''",
      crashes: 'integer NOT NULL DEFAULT 0',
      node_id: 'text',
      is_removed: 'integer NOT NULL DEFAULT 0 CHECK (is_removed IN (0, 1))',
      parsing: "text NOT NULL DEFAULT 'no' CHECK (parsing IN ('no', 'now', 'suspect'))",
      lost_by: 'text',
    },
    constraints: [
      "CHECK ((state = 'running') = (lease_until_ms IS NOT NULL))",
      "CHECK ((state = 'failed') = (failed_at_ms IS NOT NULL))",
    ],
    indexes: {
      jobs_due: "(lane, priority DESC, id) WHERE state = 'waiting'",
      jobs_by_time: "(lane, run_at_ms) WHERE state = 'waiting'",
      jobs_by_subject: '(subject_id)',
      jobs_by_state: '(lane, state)',
      jobs_failed: "(failed_at_ms) WHERE state = 'failed'",
      jobs_by_group: "(lane, group_id, priority DESC, id) WHERE state = 'waiting'",
      jobs_running_by_node: "(node_id) WHERE state = 'running'",
    },
  },
  nodes: {
    columns: {
      id: 'text PRIMARY KEY',
      run_id: 'text NOT NULL',
      place: 'text NOT NULL',
      roles: 'text NOT NULL',
      url: 'text NOT NULL',
      media_url: 'text NOT NULL',
      version: 'text NOT NULL',
      schema_version: 'integer NOT NULL',
      started_at_ms: 'integer NOT NULL',
      is_draining: 'integer NOT NULL DEFAULT 0 CHECK (is_draining IN (0, 1))',
      lease_until_ms: 'integer NOT NULL',
    },
  },
  duties: {
    columns: {
      name: 'text PRIMARY KEY',
      node_id: 'text NOT NULL',
      run_id: 'text NOT NULL',
    },
  },
  node_loads: {
    columns: {
      node_id: 'text PRIMARY KEY',
      load: 'text NOT NULL',
      measured_at_ms: 'integer NOT NULL',
    },
  },
  database_uses: {
    columns: {
      began_at_ms: 'integer PRIMARY KEY',
      last_at_ms: 'integer NOT NULL',
    },
  },
  schema_compatibility: {
    columns: {
      min_version: 'integer NOT NULL',
    },
  },
};
