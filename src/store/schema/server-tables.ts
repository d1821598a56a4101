import type { Table } from './table.ts';

export const serverTables = {
  /** Survives a crash. `payload` is JSON specific to its kind. */
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
      /** The node that runs it. */
      node_id: 'text',
      /** Removed while another node ran it, which has not let go yet. */
      is_removed: 'integer NOT NULL DEFAULT 0 CHECK (is_removed IN (0, 1))',
      /** `suspect`: the process ended while it parsed a file of others. */
      parsing: "text NOT NULL DEFAULT 'no' CHECK (parsing IN ('no', 'now', 'suspect'))",
      /** The node whose lease ran out while it parsed: it may live. */
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
  /** A server that shares the database. `roles` is a JSON array. */
  nodes: {
    columns: {
      id: 'text PRIMARY KEY',
      /** Id of one start of its process. */
      run_id: 'text NOT NULL',
      /** Host and file of its id: a copy of its data folder is elsewhere. */
      place: 'text NOT NULL',
      roles: 'text NOT NULL',
      url: 'text NOT NULL',
      media_url: 'text NOT NULL',
      version: 'text NOT NULL',
      schema_version: 'integer NOT NULL',
      started_at_ms: 'integer NOT NULL',
      is_draining: 'integer NOT NULL DEFAULT 0 CHECK (is_draining IN (0, 1))',
      /** End of the lease by the clock of the database. 0 once it has left. */
      lease_until_ms: 'integer NOT NULL',
    },
  },
  /** Held while the node's run has a lease. */
  duties: {
    columns: {
      name: 'text PRIMARY KEY',
      node_id: 'text NOT NULL',
      run_id: 'text NOT NULL',
    },
  },
  /** `load` is a JSON object. */
  node_loads: {
    columns: {
      node_id: 'text PRIMARY KEY',
      load: 'text NOT NULL',
      /** Time by the clock of the database. */
      measured_at_ms: 'integer NOT NULL',
    },
  },
  /** Time range in which servers used this database, updated each minute. */
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
} as const satisfies Readonly<Record<string, Table>>;
