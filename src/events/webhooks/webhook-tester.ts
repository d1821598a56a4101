import type { Clock } from '../../shared/clock.ts';
import { newId } from '../../shared/ids.ts';
import { eventBody } from '../event-body.ts';
import { testType } from '../event-catalogue.ts';
import { webhookHeaders } from './webhook-headers.ts';
import type { WebhookQueue } from './webhook-queue.store.ts';
import { isAccepted, type WebhookSender } from './webhook-sender.ts';

/** Options of {@link WebhookTester}. */
export interface WebhookTesterOptions {
  readonly queue: Pick<WebhookQueue, 'addTest'>;
  readonly sender: Pick<WebhookSender, 'send'>;
  /** Of this server, for `User-Agent`. */
  readonly version: string;
  readonly clock: Clock;
}

/** A webhook that is tested. */
export interface TestedWebhook {
  readonly webhookId: string;
  readonly url: string;
  readonly signatureSecret: string;
}

/**
 * Sends tests to webhooks: signed and sent as events are, at once, whatever waits, and only once. What comes of them is in the log of
 * deliveries and nowhere else: a test that fails does not make events wait.
 */
export class WebhookTester {
  readonly #options: WebhookTesterOptions;

  constructor(options: WebhookTesterOptions) {
    this.#options = options;
  }

  /**
   * Sends a test and writes down what came of it.
   *
   * @param resentFrom id of the test that this one repeats
   * @returns id of its delivery; undefined when the webhook was removed meanwhile
   */
  async test(
    { webhookId, url, signatureSecret }: TestedWebhook,
    resentFrom?: string,
  ): Promise<string | undefined> {
    const { queue, sender, version, clock } = this.#options;
    const attemptedAtMs = clock.nowMs();
    const beganMs = clock.monotonicMs();
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
      ...{ url, body },
      headers: webhookHeaders(delivery, attemptedAtMs, version),
      // It ends by the time that a try may take.
      signal: new AbortController().signal,
    });
    const durationMs = Math.max(0, Math.round(clock.monotonicMs() - beganMs));
    const isWritten = queue.addTest({
      ...{ deliveryId: delivery.deliveryId, webhookId, type: testType, body, resentFrom },
      isAccepted: isAccepted(answer),
      record: { attemptedAtMs, durationMs, ...answer },
    });
    return isWritten ? delivery.deliveryId : undefined;
  }
}
