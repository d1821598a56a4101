import type { Config } from '../config/settings.ts';
import type { Outbox } from '../events/outbox.store.ts';
import { DeliveryCleanupStore } from '../events/webhooks/delivery-cleanup.store.ts';
import { DeliveryCleanup } from '../events/webhooks/delivery-cleanup.ts';
import { WebhookDispatcher } from '../events/webhooks/webhook-dispatcher.ts';
import { WebhookSender } from '../events/webhooks/webhook-sender.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Clock } from '../shared/clock.ts';
import type { Component } from '../shared/lifecycle.ts';
import type { Logger } from '../shared/logger.ts';
import type { ResolveHost } from '../shared/network/target-address.ts';
import type { Database } from '../store/database.ts';

/** What telling webhooks of events needs of the rest of the server. */
export interface WebhooksOptions {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly metrics: Metrics;
  readonly version: string;
  readonly sender: WebhookSender;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Of one try: name, connection, answer. */
const tryTimeoutMs = 5_000;

/** Makes what events and tests are sent to webhooks with. It is stopped with the dispatcher. */
export function createWebhookSender(config: Config, resolve: ResolveHost): WebhookSender {
  return new WebhookSender({
    allowPrivateTargets: config.allowPrivateTargets,
    resolve,
    timeoutMs: tryTimeoutMs,
  });
}

/** Puts together what sends events to webhooks: the components to be started, in their order. */
export function createWebhookComponents(options: WebhooksOptions): readonly Component[] {
  const { database, outbox, metrics, version, sender, clock } = options;
  const log = options.log.child('webhooks');
  const sweeper = new DeliveryCleanup({ store: new DeliveryCleanupStore(database), clock, log });
  const dispatcher = new WebhookDispatcher({
    queue: outbox.webhooks,
    sender,
    version,
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
