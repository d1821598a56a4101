import { type DeliveryType, testType } from '../../../events/event-catalogue.ts';
import type { DeliveryErrorCode } from '../../../events/webhooks/delivery-error.ts';
import type { WebhookQueue } from '../../../events/webhooks/webhook-queue.store.ts';
import type { WebhookTester } from '../../../events/webhooks/webhook-tester.ts';
import { notFoundError } from '../../../http/routing/project-resource.ts';
import { type RatedProject, RateExceeded, RateLimiter } from '../../../http/routing/rate-limiter.ts';
import { type Clock, formatAtom } from '../../../shared/clock.ts';
import { type ListResult, mapList, type PageRequest } from '../../../shared/list-page.ts';
import type { DeliveryDetailsView, DeliveryView } from './deliveries.schema.ts';
import type { DeliveriesStore, Delivery, DeliveryFilter, ListedDelivery } from './deliveries.store.ts';
import type { Webhook } from './webhook.ts';

/** Limit of one project. */
const maxTestsPerMinute = 10;

interface FoundDelivery {
  readonly webhook: Webhook;
  readonly delivery: Delivery;
}

export class DeliveriesService {
  readonly #store: DeliveriesStore;
  readonly #queue: WebhookQueue;
  readonly #tester: WebhookTester;
  readonly #testLimit: RateLimiter;
  readonly #clock: Clock;

  constructor(options: {
    store: DeliveriesStore;
    queue: WebhookQueue;
    tester: WebhookTester;
    clock: Clock;
  }) {
    this.#store = options.store;
    this.#queue = options.queue;
    this.#tester = options.tester;
    this.#testLimit = new RateLimiter({ uploads: 0, writes: maxTestsPerMinute, reads: 0 }, options.clock);
    this.#clock = options.clock;
  }

  async find(webhook: Webhook, deliveryId: string): Promise<FoundDelivery | undefined> {
    const delivery = await this.#store.find(webhook.webhookId, deliveryId);
    return delivery === undefined ? undefined : { webhook, delivery };
  }

  async list(
    { webhookId }: Webhook,
    direction: 'asc' | 'desc',
    query: DeliveryFilter & PageRequest,
  ): Promise<ListResult<DeliveryView>> {
    return mapList(await this.#store.list(webhookId, direction, query), delivery => ({
      ...viewOf(webhookId, delivery),
      ...(delivery.lastAttempt === undefined ? {} : { lastAttempt: attemptOf(delivery.lastAttempt) }),
    }));
  }

  async details({ webhook, delivery }: FoundDelivery): Promise<DeliveryDetailsView> {
    const attempts = await this.#store.attempts(delivery.number);
    return {
      ...viewOf(webhook.webhookId, delivery),
      body: delivery.body,
      attempts: attempts.map(attempt => ({
        ...attemptOf(attempt),
        ...(attempt.response === null ? {} : { response: attempt.response }),
      })),
    };
  }

  /** A test is created anew. */
  async resend({ webhook, delivery }: FoundDelivery, project: RatedProject): Promise<DeliveryDetailsView> {
    const { deliveryId } = delivery;
    if (delivery.type === testType) return this.test(webhook, project, deliveryId);
    const newId = await this.#queue.resend(webhook, deliveryId, this.#clock.nowMs());
    return this.#detailsOfNew(webhook, newId, 'deliveryId');
  }

  /** @throws RateExceeded when the project sent too many in the last minute */
  async test(webhook: Webhook, project: RatedProject, resentFrom?: string): Promise<DeliveryDetailsView> {
    const rate = this.#testLimit.take(project, 'writes');
    if (!rate.isAllowed) {
      throw new RateExceeded(
        rate,
        `You can send ${maxTestsPerMinute} tests per minute. Try again in ${rate.retryAfterSeconds} s.`,
      );
    }
    return this.#detailsOfNew(webhook, await this.#tester.test(webhook, resentFrom), 'webhookId');
  }

  async #detailsOfNew(
    webhook: Webhook,
    deliveryId: string | undefined,
    name: string,
  ): Promise<DeliveryDetailsView> {
    const found = deliveryId === undefined ? undefined : await this.find(webhook, deliveryId);
    if (found === undefined) throw notFoundError(name);
    return this.details(found);
  }
}

function attemptOf(attempt: NonNullable<ListedDelivery['lastAttempt']>) {
  return {
    attemptedAt: formatAtom(attempt.attempted_at_ms),
    durationMs: attempt.duration_ms,
    ...(attempt.status_code === null ? {} : { statusCode: attempt.status_code }),
    ...(attempt.error === null ? {} : { error: attempt.error }),
    ...(attempt.error_code === null ? {} : { errorCode: attempt.error_code as DeliveryErrorCode }),
  };
}

function viewOf(webhookId: string, delivery: Delivery): Omit<DeliveryView, 'lastAttempt'> {
  const { deliveryId, eventNumber, type, status, attempts, createdAtMs, nextAttemptAtMs, resentFrom } =
    delivery;
  return {
    deliveryId,
    webhookId,
    ...(type === testType ? {} : { eventId: String(eventNumber) }),
    type: type as DeliveryType,
    status,
    attemptsTotal: attempts,
    createdAt: formatAtom(createdAtMs),
    nextAttemptAt: nextAttemptAtMs === undefined ? undefined : formatAtom(nextAttemptAtMs),
    resentFrom,
  };
}
