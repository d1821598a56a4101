import { DeliveryCleanupStore } from '../events/webhooks/delivery-cleanup.store.ts';
import { DeliveryCleanup } from '../events/webhooks/delivery-cleanup.ts';
import { WebhookDispatcher } from '../events/webhooks/webhook-dispatcher.ts';
import { WebhookSender } from '../events/webhooks/webhook-sender.ts';
import type { Component } from '../shared/lifecycle.ts';
import type { Foundation } from './foundation.ts';

/** Timeout for name lookup, connection and response together. */
const attemptTimeoutMs = 5_000;

export function createWebhookSender({
  config,
  resolveHost,
}: Pick<Foundation, 'config' | 'resolveHost'>): WebhookSender {
  return new WebhookSender({
    allowPrivateTargets: config.allowPrivateTargets,
    resolve: resolveHost,
    timeoutMs: attemptTimeoutMs,
  });
}

export function createWebhookComponents(
  { database, outbox, metrics, version, clock, log: parentLog, ...foundation }: Foundation,
  sender: WebhookSender,
): readonly Component[] {
  const log = parentLog.child('webhooks');
  const leaderLease = foundation.leaderLease('webhooks');
  const sweeper = new DeliveryCleanup({ store: new DeliveryCleanupStore(database), leaderLease, clock, log });
  const dispatcher = new WebhookDispatcher({
    queue: outbox.webhooks,
    sender,
    leaderLease,
    version,
    clockOffsetMs: nowMs => outbox.webhooks.clockOffsetMs(nowMs),
    webhookRemoved: () => sweeper.schedule(),
    observer: {
      attempted: (outcome, durationMs) => {
        metrics.webhookAttempts.inc({ outcome });
        metrics.webhookSeconds.observe(durationMs / 1_000);
      },
      dropped: count => metrics.webhookAttempts.inc({ outcome: 'dropped' }, count),
    },
    clock,
    log,
  });
  return [sweeper, dispatcher];
}
