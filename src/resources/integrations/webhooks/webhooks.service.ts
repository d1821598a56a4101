import type { EventType } from '../../../events/event-catalogue.ts';
import type { WebhookQueue } from '../../../events/webhooks/webhook-queue.store.ts';
import type { TargetVerdict, WebhookSender } from '../../../events/webhooks/webhook-sender.ts';
import { notFoundError } from '../../../http/routing/project-resource.ts';
import { type Clock, formatAtom } from '../../../shared/clock.ts';
import { AppError } from '../../../shared/errors.ts';
import { newId } from '../../../shared/ids.ts';
import { maxWebhooks } from '../../../shared/limits/resource-limits.ts';
import type { ListResult, PageRequest, Sort } from '../../../shared/list-page.ts';
import type { Webhook } from './webhook.ts';
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

  find(projectId: string, webhookId: string): Promise<Webhook | undefined> {
    return this.#options.store.find(projectId, webhookId);
  }

  async list(
    projectId: string,
    { direction }: Sort<'createdAt'>,
    query: PageRequest & { readonly events?: EventType | undefined },
  ): Promise<ListResult<WebhookView>> {
    const { events, currentPage, pageSize } = query;
    const all = await this.#options.store.all(projectId, direction);
    const matching = all.filter(webhook => events === undefined || webhook.events.includes(events));
    const from = (currentPage - 1) * pageSize;
    return { items: matching.slice(from, from + pageSize).map(viewOf), total: matching.length };
  }

  view(webhook: Webhook): WebhookView {
    return viewOf(webhook);
  }

  /** @throws AppError `webhook-limit-reached` */
  async create(
    projectId: string,
    { events, url }: { events: readonly EventType[]; url: string },
  ): Promise<WebhookView> {
    const webhook: Webhook = {
      webhookId: newId('webhook_'),
      projectId,
      events: [...new Set(events)],
      url,
      signatureSecret: newId('sig_sec_'),
      createdAtMs: this.#options.clock.nowMs(),
    };
    if (!(await this.#options.store.add(webhook, maxWebhooks))) throw new AppError('webhook-limit-reached');
    return viewOf(webhook);
  }

  /** Waiting deliveries go to the new URL. */
  async change(
    webhook: Webhook,
    { events, url }: { events?: readonly EventType[] | undefined; url?: string | undefined },
  ): Promise<WebhookView> {
    const { store, queue, clock } = this.#options;
    const changes = {
      ...(events === undefined ? {} : { events: [...new Set(events)] }),
      ...(url === undefined ? {} : { url }),
    };
    const changed = await store.change(webhook, changes, async transaction => {
      if (url === undefined || url === webhook.url) return;
      await queue.webhookUrlChanged(webhook.webhookId, clock.nowMs(), transaction);
    });
    if (changed === undefined) throw notFoundError('webhookId');
    return viewOf(changed);
  }

  async check(url: string): Promise<WebhookVerdictView> {
    try {
      return verdicts[await this.#options.sender.checkUrl(url)];
    } catch {
      return { deliverable: false, reason: 'The DNS server did not respond. Try again in a moment.' };
    }
  }

  async remove({ projectId, webhookId }: Webhook): Promise<void> {
    const { store, queue } = this.#options;
    await store.remove(projectId, webhookId, transaction => queue.webhookRemoved(webhookId, transaction));
  }
}

function viewOf({ webhookId, events, url, signatureSecret, createdAtMs }: Webhook): WebhookView {
  return { webhookId, createdAt: formatAtom(createdAtMs), events: [...events], url, signatureSecret };
}
