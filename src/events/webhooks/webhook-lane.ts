import type { Logger } from '../../shared/logger.ts';
import { retryAtMs } from './retry-schedule.ts';
import type { AttemptOutcome, DueDelivery, NextStep } from './webhook-queue.store.ts';
import { isAccepted, type WebhookResponse } from './webhook-sender.ts';

export interface WebhookObserver {
  /** A retry follows `failed`. */
  attempted(outcome: 'delivered' | 'failed' | 'given-up', durationMs: number): void;
  dropped(count: number): void;
}

export interface RunningAttempt {
  readonly delivery: DueDelivery;
  readonly controller: AbortController;
}

/** Deliveries to one webhook. */
export interface Lane {
  readonly webhookId: string;
  /** Attempts by number of the delivery. An attempt stays until its outcome is stored. */
  readonly running: Map<number, RunningAttempt>;
  maxConcurrent: number;
  isHealthy: boolean;
  failuresInRow: number;
  /** The receiver has recovered, so retries that are due later are made now. */
  isExpediting: boolean;
  /** A receiver that refuses only some deliveries must not get these again with each of the others. */
  expediteAtMs: number;
  nextDueAtMs: number;
  isRemoved: boolean;
}

const initialConcurrency = 8;
const maxConcurrency = 32;
const minConcurrency = 4;
const slowMs = 1_000;
const failuresUntilUnreachable = 5;

export function createLane(webhookId: string): Lane {
  return {
    webhookId,
    running: new Map(),
    maxConcurrent: initialConcurrency,
    isHealthy: false,
    failuresInRow: 0,
    isExpediting: false,
    expediteAtMs: 0,
    nextDueAtMs: 0,
    isRemoved: false,
  };
}

export function nextStep(
  delivery: DueDelivery,
  answer: WebhookResponse,
  { attemptedAtMs, nowMs }: { readonly attemptedAtMs: number; readonly nowMs: number },
): NextStep {
  if (isAccepted(answer)) return 'succeeded';
  const times = { firstAttemptAtMs: delivery.firstAttemptAtMs ?? attemptedAtMs, nowMs };
  const atMs = retryAtMs(delivery.attempts + 1, times, Math.random());
  return atMs === undefined ? 'failed' : { retryAtMs: atMs };
}

/** Adapts its concurrency, logs and counts. */
export function updateLane(
  lane: Lane,
  { delivery, record, next }: AttemptOutcome,
  { observer, log }: { readonly observer?: WebhookObserver; readonly log: Logger },
): void {
  const { webhookId } = lane;
  const what = { webhookId, deliveryId: delivery.deliveryId, attempt: delivery.attempts + 1 };
  const why = { status: record.statusCode, failure: record.error?.text };
  const isDelivered = next === 'succeeded';
  const isProven = isDelivered && record.durationMs < slowMs;
  lane.maxConcurrent = isProven
    ? Math.min(maxConcurrency, lane.maxConcurrent + 1)
    : Math.max(minConcurrency, Math.floor(lane.maxConcurrent / 2));
  lane.isHealthy = isProven;
  if (isDelivered) {
    if (lane.failuresInRow >= failuresUntilUnreachable) {
      lane.isExpediting = true;
      log.info('webhook-recovered', { webhookId });
    }
    lane.failuresInRow = 0;
    log.debug('webhook-delivered', what);
  } else {
    lane.failuresInRow += 1;
    if (lane.failuresInRow === failuresUntilUnreachable)
      log.warn('webhook-unreachable', { webhookId, ...why });
    if (next === 'failed') log.warn('webhook-delivery-given-up', { ...what, ...why });
    else log.debug('webhook-attempt-failed', { ...what, ...why });
  }
  const outcome = isDelivered ? 'delivered' : next === 'failed' ? 'given-up' : 'failed';
  observer?.attempted(outcome, record.durationMs);
}
