import type { Generated } from 'kysely';

/** Survives a crash. `payload` is JSON specific to its kind. */
export interface JobRow {
  id: Generated<number>;
  kind: string;
  lane: string;
  subject_id: string;
  group_id: Generated<string>;
  payload: string;
  priority: number;
  state: 'waiting' | 'running' | 'failed';
  attempts: number;
  crashes: Generated<number>;
  progress_percent: number;
  run_at_ms: number;
  lease_until_ms: number | null;
  failure: string | null;
  created_at_ms: number;
  failed_at_ms: number | null;
  /** The node that runs it. */
  node_id: Generated<string | null>;
  /** Removed while another node ran it, which has not let go yet. */
  is_removed: Generated<number>;
  /** `suspect`: the process ended while it parsed a file of others. */
  parsing: Generated<'no' | 'now' | 'suspect'>;
  /** The node whose lease ran out while it parsed: it may live. */
  lost_by: Generated<string | null>;
}

interface EventCounterRow {
  project_id: string;
  last: number;
}

/** Stored in the transaction of its change. `number` counts a project's events; `payload` is JSON. */
export interface EventRow {
  id: Generated<number>;
  number: number;
  project_id: string;
  type: string;
  subject_id: string;
  payload: string;
  created_at_ms: number;
}

/** `events` is a JSON array of event types. */
export interface WebhookRow {
  id: string;
  project_id: string;
  events: string;
  url: string;
  signature_secret: string;
  created_at_ms: number;
}

/** One per project and kind. */
export interface HookRow {
  id: string;
  project_id: string;
  kind: 'publish' | 'play';
  url: string;
  timeout_ms: number;
  on_failure: 'allow' | 'refuse';
  signature_secret: string;
  created_at_ms: number;
}

/** The newest of each hook. `error` is null when the hook decided itself. */
export interface HookResultRow {
  number: Generated<number>;
  hook_id: string;
  attempted_at_ms: number;
  duration_ms: number;
  is_allowed: number;
  is_test: number;
  subject_id: string;
  remote_address: string;
  status_code: number | null;
  error: string | null;
  response: string | null;
}

interface RemovedWebhookRow {
  webhook_id: string;
}

/**
 * Deliveries of one `sequence` are sent in order: `is_next` marks the current one. `due_at_ms` is null for
 * finished ones; `body` is the exact request body.
 */
export interface WebhookDeliveryRow {
  number: Generated<number>;
  id: string;
  webhook_id: string;
  event_number: number;
  type: string;
  sequence: string;
  body: string;
  state: 'waiting' | 'retrying' | 'succeeded' | 'failed';
  is_next: number;
  due_at_ms: number | null;
  attempts: number;
  first_attempt_at_ms: number | null;
  resent_from: string | null;
  created_at_ms: number;
}

/** Numbered from 1. `response` is the start of the response body. */
export interface WebhookAttemptRow {
  delivery_number: number;
  attempt: number;
  attempted_at_ms: number;
  duration_ms: number;
  status_code: number | null;
  error: string | null;
  response: string | null;
}

interface WebhookDeliveryTotalRow {
  webhook_id: string;
  state: WebhookDeliveryRow['state'];
  type: string;
  total: number;
}

export interface EventTables {
  jobs: JobRow;
  events: EventRow;
  event_counters: EventCounterRow;
  webhooks: WebhookRow;
  removed_webhooks: RemovedWebhookRow;
  webhook_deliveries: WebhookDeliveryRow;
  webhook_attempts: WebhookAttemptRow;
  hooks: HookRow;
  hook_results: HookResultRow;
  webhook_delivery_totals: WebhookDeliveryTotalRow;
}
