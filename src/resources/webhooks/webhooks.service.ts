import type { EventType } from '../../events/event-catalogue.ts';
import type { WebhookQueue } from '../../events/webhook-queue.store.ts';
import { type Clock, formatAtom } from '../../shared/clock.ts';
import { AppError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { type Webhook, webhooksAtMost } from './webhook.ts';
import type { WebhookView } from './webhooks.schema.ts';
import type { WebhooksStore } from './webhooks.store.ts';

/** What webhooks are kept with. */
export interface WebhooksOptions {
  readonly store: WebhooksStore;
  readonly queue: WebhookQueue;
  readonly clock: Clock;
}

/** What a caller can do with webhooks. */
export class WebhooksService {
  readonly #options: WebhooksOptions;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  /** A webhook of a project. */
  find(projectId: string, webhookId: string): Webhook | undefined {
    return this.#options.store.find(projectId, webhookId);
  }

  /** One page of a project's webhooks by their creation, and how many there are on all pages. */
  list(
    projectId: string,
    direction: 'asc' | 'desc',
    query: { events?: EventType | undefined; currentPage: number; pageSize: number },
  ): { views: WebhookView[]; total: number } {
    const { events, currentPage, pageSize } = query;
    const all = this.#options.store
      .all(projectId, direction)
      .filter(webhook => events === undefined || webhook.events.includes(events));
    const from = (currentPage - 1) * pageSize;
    return { views: all.slice(from, from + pageSize).map(viewOf), total: all.length };
  }

  /** A webhook as its owner sees it. */
  view(webhook: Webhook): WebhookView {
    return viewOf(webhook);
  }

  /** Makes a webhook, which is told of what happens from now on. @throws AppError `webhook-limit-reached` */
  create(projectId: string, { events, url }: { events: readonly EventType[]; url: string }): WebhookView {
    const webhook: Webhook = {
      webhookId: newId('webhook_'),
      projectId,
      events: [...new Set(events)],
      url,
      signatureSecret: newId('sig_sec_'),
      createdAtMs: this.#options.clock.nowMs(),
    };
    if (!this.#options.store.add(webhook, webhooksAtMost)) throw new AppError('webhook-limit-reached');
    return viewOf(webhook);
  }

  /** Removes a webhook; nothing is sent to it any more. */
  remove({ projectId, webhookId }: Webhook): void {
    this.#options.store.remove(projectId, webhookId);
    this.#options.queue.webhookRemoved(webhookId);
  }
}

function viewOf({ webhookId, events, url, signatureSecret, createdAtMs }: Webhook): WebhookView {
  return { webhookId, createdAt: formatAtom(createdAtMs), events: [...events], url, signatureSecret };
}
