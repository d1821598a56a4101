import type { EventType } from '../../events/event-catalogue.ts';
import type { WebhookQueue } from '../../events/webhooks/webhook-queue.store.ts';
import type { TargetVerdict, WebhookSender } from '../../events/webhooks/webhook-sender.ts';
import { type Clock, formatAtom } from '../../shared/clock.ts';
import { AppError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { ListResult, PageRequest, Sort } from '../../shared/list-page.ts';
import { maxWebhooks, type Webhook } from './webhook.ts';
import type { WebhookVerdictView, WebhookView } from './webhooks.schema.ts';
import type { WebhooksStore } from './webhooks.store.ts';

interface WebhooksOptions {
  readonly store: WebhooksStore;
  readonly queue: WebhookQueue;
  readonly sender: Pick<WebhookSender, 'checkUrl'>;
  readonly clock: Clock;
}

const privateSetting = 'MILLRACE_ALLOW_PRIVATE_TARGETS';
const verdicts: Readonly<Record<TargetVerdict, WebhookVerdictView>> = {
  reachable: { deliverable: true },
  private: {
    deliverable: false,
    reason: 'This server does not deliver to private addresses.',
    setting: privateSetting,
  },
  never: {
    deliverable: false,
    reason: 'This server never delivers to link-local, multicast or cloud metadata addresses.',
  },
  'not-public': {
    deliverable: false,
    reason: 'This host is unknown or has a private address. This server delivers to public addresses only.',
    setting: privateSetting,
  },
  unknown: { deliverable: false, reason: 'This host is unknown. Check its name.' },
};

export class WebhooksService {
  readonly #options: WebhooksOptions;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  find(projectId: string, webhookId: string): Webhook | undefined {
    return this.#options.store.find(projectId, webhookId);
  }

  list(
    projectId: string,
    { direction }: Sort<'createdAt'>,
    query: PageRequest & { readonly events?: EventType | undefined },
  ): ListResult<WebhookView> {
    const { events, currentPage, pageSize } = query;
    const all = this.#options.store
      .all(projectId, direction)
      .filter(webhook => events === undefined || webhook.events.includes(events));
    const from = (currentPage - 1) * pageSize;
    return { items: all.slice(from, from + pageSize).map(viewOf), total: all.length };
  }

  view(webhook: Webhook): WebhookView {
    return viewOf(webhook);
  }

  /** @throws AppError `webhook-limit-reached` */
  create(projectId: string, { events, url }: { events: readonly EventType[]; url: string }): WebhookView {
    const webhook: Webhook = {
      webhookId: newId('webhook_'),
      projectId,
      events: [...new Set(events)],
      url,
      signatureSecret: newId('sig_sec_'),
      createdAtMs: this.#options.clock.nowMs(),
    };
    if (!this.#options.store.add(webhook, maxWebhooks)) throw new AppError('webhook-limit-reached');
    return viewOf(webhook);
  }

  /** Waiting deliveries go to the new URL. */
  change(
    webhook: Webhook,
    { events, url }: { events?: readonly EventType[] | undefined; url?: string | undefined },
  ): WebhookView {
    const { store, queue, clock } = this.#options;
    const changed: Webhook = {
      ...webhook,
      ...(events === undefined ? {} : { events: [...new Set(events)] }),
      ...(url === undefined ? {} : { url }),
    };
    store.change(changed);
    if (changed.url !== webhook.url) queue.webhookUrlChanged(webhook.webhookId, clock.nowMs());
    return viewOf(changed);
  }

  async check(url: string): Promise<WebhookVerdictView> {
    try {
      return verdicts[await this.#options.sender.checkUrl(url)];
    } catch {
      return { deliverable: false, reason: 'The name server did not answer. Try again in a moment.' };
    }
  }

  remove({ projectId, webhookId }: Webhook): void {
    this.#options.store.remove(projectId, webhookId);
    this.#options.queue.webhookRemoved(webhookId);
  }
}

function viewOf({ webhookId, events, url, signatureSecret, createdAtMs }: Webhook): WebhookView {
  return { webhookId, createdAt: formatAtom(createdAtMs), events: [...events], url, signatureSecret };
}
