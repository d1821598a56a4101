import type { Table } from './table.ts';

export const eventTables = {
  /** Stored in the transaction of its change. `number` counts a project's events; `payload` is JSON. */
  events: {
    columns: {
      id: 'uniqueNumber',
      project_id: 'text NOT NULL REFERENCES projects (id) ON DELETE CASCADE',
      type: 'text NOT NULL',
      subject_id: 'text NOT NULL',
      payload: 'object NOT NULL',
      created_at_ms: 'integer NOT NULL',
      number: 'integer NOT NULL DEFAULT 0',
    },
    indexes: { events_by_creation: '(created_at_ms)', events_by_project: 'UNIQUE (project_id, number)' },
  },
  event_counters: {
    columns: {
      project_id: 'text PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE',
      last: 'integer NOT NULL',
    },
    isKeyed: true,
  },
  /** `events` is a JSON array of event types. */
  webhooks: {
    columns: {
      id: 'text PRIMARY KEY',
      project_id: 'text NOT NULL REFERENCES projects (id) ON DELETE CASCADE',
      events: 'validArray NOT NULL',
      url: 'text NOT NULL',
      signature_secret: 'text NOT NULL',
      created_at_ms: 'integer NOT NULL',
    },
    indexes: { webhooks_by_creation: '(project_id, created_at_ms, id)' },
  },
  removed_webhooks: {
    columns: {
      webhook_id: 'text PRIMARY KEY',
    },
    isKeyed: true,
  },
  /**
   * Deliveries of one `sequence` are sent in order: `is_next` marks the current one. `due_at_ms` is null for
   * finished ones; `body` is the exact request body.
   */
  webhook_deliveries: {
    columns: {
      number: 'number',
      id: 'text NOT NULL UNIQUE',
      webhook_id: 'text NOT NULL',
      event_number: 'integer NOT NULL',
      type: 'text NOT NULL',
      sequence: 'text NOT NULL',
      body: 'text NOT NULL',
      state: "text NOT NULL CHECK (state IN ('waiting', 'retrying', 'succeeded', 'failed'))",
      is_next: 'flag NOT NULL',
      due_at_ms: 'integer',
      attempts: 'integer NOT NULL',
      first_attempt_at_ms: 'integer',
      resent_from: 'text',
      created_at_ms: 'integer NOT NULL',
    },
    constraints: [
      "CHECK ((state IN ('waiting', 'retrying')) = (due_at_ms IS NOT NULL))",
      'CHECK (is_next = 0 OR due_at_ms IS NOT NULL)',
    ],
    indexes: {
      webhook_deliveries_by_webhook: '(webhook_id, number, type)',
      webhook_deliveries_by_state: '(webhook_id, state, number, type)',
      webhook_deliveries_due: '(webhook_id, due_at_ms, number) WHERE is_next = 1',
      webhook_deliveries_in_order: '(webhook_id, sequence, number) WHERE due_at_ms IS NOT NULL',
      webhook_deliveries_by_creation: '(created_at_ms)',
    },
  },
  /** Numbered from 1. `response` is the start of the response body. */
  webhook_attempts: {
    columns: {
      delivery_number: 'integer NOT NULL REFERENCES webhook_deliveries (number) ON DELETE CASCADE',
      attempt: 'integer NOT NULL',
      attempted_at_ms: 'integer NOT NULL',
      duration_ms: 'integer NOT NULL',
      status_code: 'integer',
      error: 'text',
      response: 'text',
    },
    constraints: ['PRIMARY KEY (delivery_number, attempt)'],
    isKeyed: true,
  },
  webhook_delivery_totals: {
    columns: {
      webhook_id: 'text NOT NULL',
      state: 'text NOT NULL',
      type: 'text NOT NULL',
      total: 'integer NOT NULL CHECK (total >= 0)',
    },
    constraints: ['PRIMARY KEY (webhook_id, state, type)'],
    isKeyed: true,
  },
  /** One per project and kind. */
  hooks: {
    columns: {
      id: 'text PRIMARY KEY',
      project_id: 'text NOT NULL REFERENCES projects (id) ON DELETE CASCADE',
      kind: "text NOT NULL CHECK (kind IN ('publish', 'play'))",
      url: 'text NOT NULL',
      timeout_ms: 'integer NOT NULL',
      on_failure: "text NOT NULL CHECK (on_failure IN ('allow', 'refuse'))",
      signature_secret: 'text NOT NULL',
      created_at_ms: 'integer NOT NULL',
    },
    constraints: ['UNIQUE (project_id, kind)'],
  },
  /** The newest of each hook. `error` is null when the hook decided itself. */
  hook_results: {
    columns: {
      number: 'number',
      hook_id: 'text NOT NULL REFERENCES hooks (id) ON DELETE CASCADE',
      attempted_at_ms: 'integer NOT NULL',
      duration_ms: 'integer NOT NULL',
      is_allowed: 'integer NOT NULL CHECK (is_allowed IN (0, 1))',
      is_test: 'integer NOT NULL CHECK (is_test IN (0, 1))',
      subject_id: 'text NOT NULL',
      remote_address: 'text NOT NULL',
      status_code: 'integer',
      error: 'text',
      response: 'text',
    },
    indexes: { hook_results_by_hook: '(hook_id, number)' },
  },
} as const satisfies Readonly<Record<string, Table>>;
