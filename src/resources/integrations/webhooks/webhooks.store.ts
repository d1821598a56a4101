import type { EventType } from '../../../events/event-catalogue.ts';
import { lockWebhooks } from '../../../events/webhooks/webhook-queue.store.ts';
import type { Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import type { Row } from '../../../store/tables.ts';
import type { Webhook } from './webhook.ts';

export class WebhooksStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async find(projectId: string, webhookId: string): Promise<Webhook | undefined> {
    const row = await this.#database.first(
      this.#ofProject(projectId).selectAll().where('id', '=', webhookId),
    );
    return row === undefined ? undefined : webhookFrom(row);
  }

  async all(projectId: string, direction: 'asc' | 'desc'): Promise<Webhook[]> {
    const rows = await this.#database.all(
      this.#ofProject(projectId).selectAll().orderBy('created_at_ms', direction).orderBy('id', direction),
    );
    return rows.map(webhookFrom);
  }

  /** Returns false when its project already has `maxWebhooks`. */
  add(webhook: Webhook, maxWebhooks: number): Promise<boolean> {
    return this.#database.transaction(async transaction => {
      await lockWebhooks(webhook.projectId, transaction);
      const others = await transaction.all(
        this.#ofProject(webhook.projectId).select('id').limit(maxWebhooks),
      );
      if (others.length >= maxWebhooks) return false;
      await transaction.run(
        this.#database.queries.insertInto('webhooks').values({
          id: webhook.webhookId,
          project_id: webhook.projectId,
          events: JSON.stringify(webhook.events),
          url: webhook.url,
          signature_secret: webhook.signatureSecret,
          created_at_ms: webhook.createdAtMs,
        }),
      );
      return true;
    });
  }

  /** Calls `also` before the commit. Returns undefined when it was removed. */
  change(
    { projectId, webhookId }: Pick<Webhook, 'projectId' | 'webhookId'>,
    { events, url }: Partial<Pick<Webhook, 'events' | 'url'>>,
    also: (transaction: Transaction) => Promise<void>,
  ): Promise<Webhook | undefined> {
    return this.#database.transaction(async transaction => {
      const row = await transaction.first(
        transaction.queries
          .updateTable('webhooks')
          .set(({ ref }) => ({
            events: events === undefined ? ref('events') : JSON.stringify(events),
            url: url ?? ref('url'),
          }))
          .where('id', '=', webhookId)
          .where('project_id', '=', projectId)
          .returningAll(),
      );
      if (row === undefined) return undefined;
      await also(transaction);
      return webhookFrom(row);
    });
  }

  /** Calls `also` before the commit. Its deliveries are removed in batches later. */
  async remove(
    projectId: string,
    webhookId: string,
    also: (transaction: Transaction) => Promise<void>,
  ): Promise<void> {
    await this.#database.transaction(async transaction => {
      await lockWebhooks(projectId, transaction);
      await transaction.run(
        transaction.queries
          .deleteFrom('webhooks')
          .where('id', '=', webhookId)
          .where('project_id', '=', projectId),
      );
      await also(transaction);
    });
  }

  #ofProject(projectId: string) {
    return this.#database.queries.selectFrom('webhooks').where('project_id', '=', projectId);
  }
}

function webhookFrom(row: Row<'webhooks'>): Webhook {
  return {
    webhookId: row.id,
    projectId: row.project_id,
    events: JSON.parse(row.events) as EventType[],
    url: row.url,
    signatureSecret: row.signature_secret,
    createdAtMs: row.created_at_ms,
  };
}
