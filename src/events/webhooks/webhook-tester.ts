import type { Clock } from '../../shared/clock.ts';
import { newId } from '../../shared/ids.ts';
import { eventBody, testType } from '../event-catalogue.ts';
import { webhookHeaders } from './webhook-headers.ts';
import type { QueuedWebhook, WebhookQueue } from './webhook-queue.store.ts';
import { isAccepted, type WebhookSender } from './webhook-sender.ts';

interface WebhookTesterOptions {
  readonly queue: Pick<WebhookQueue, 'addTest'>;
  readonly sender: Pick<WebhookSender, 'send'>;
  readonly version: string;
  readonly clock: Clock;
}

interface TestedWebhook extends QueuedWebhook {
  readonly url: string;
  readonly signatureSecret: string;
}

/** Sends signed tests without retries. They do not affect the delivery of events. */
export class WebhookTester {
  readonly #options: WebhookTesterOptions;

  constructor(options: WebhookTesterOptions) {
    this.#options = options;
  }

  /** @param resentFrom id of the repeated test @returns undefined when the webhook was removed meanwhile */
  async test(webhook: TestedWebhook, resentFrom?: string): Promise<string | undefined> {
    const { webhookId, url, signatureSecret } = webhook;
    const { queue, sender, version, clock } = this.#options;
    const attemptedAtMs = clock.nowMs();
    const startedMs = clock.monotonicMs();
    const body = JSON.stringify(
      eventBody({ type: testType, createdAtMs: attemptedAtMs, payload: { webhookId } }),
    );
    const delivery = {
      deliveryId: newId('delivery_'),
      webhookId,
      signatureSecret,
      body,
      eventNumber: undefined,
    };
    const answer = await sender.send({
      url,
      body,
      headers: webhookHeaders(delivery, attemptedAtMs, version),
      // Never aborted: the timeout of the sender ends it.
      signal: new AbortController().signal,
    });
    const durationMs = Math.max(0, Math.round(clock.monotonicMs() - startedMs));
    const isWritten = await queue.addTest({
      deliveryId: delivery.deliveryId,
      webhook,
      type: testType,
      body,
      resentFrom,
      isAccepted: isAccepted(answer),
      record: { attemptedAtMs, durationMs, ...answer },
    });
    return isWritten ? delivery.deliveryId : undefined;
  }
}
