import type { EventType } from '../../events/event-catalogue.ts';
import type { Database } from '../../store/database.ts';
import type { WebhookRow } from '../../store/event-tables.ts';
import type { Webhook } from './webhook.ts';

export class WebhooksStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  find(projectId: string, webhookId: string): Webhook | undefined {
    const row = this.#database.first(this.#ofProject(projectId).selectAll().where('id', '=', webhookId));
    return row === undefined ? undefined : webhookFrom(row);
  }

  all(projectId: string, direction: 'asc' | 'desc'): Webhook[] {
    return this.#database
      .all(
        this.#ofProject(projectId).selectAll().orderBy('created_at_ms', direction).orderBy('id', direction),
      )
      .map(webhookFrom);
  }

  /** Returns false when its project already has `maxWebhooks`. */
  add(webhook: Webhook, maxWebhooks: number): boolean {
    return this.#database.transaction(() => {
      const others = this.#database.all(this.#ofProject(webhook.projectId).select('id').limit(maxWebhooks));
      if (others.length >= maxWebhooks) return false;
      this.#database.run(
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

  change({ projectId, webhookId, events, url }: Webhook): void {
    this.#database.run(
      this.#database.queries
        .updateTable('webhooks')
        .set({ events: JSON.stringify(events), url })
        .where('id', '=', webhookId)
        .where('project_id', '=', projectId),
    );
  }

  /** Its deliveries are removed in batches later. */
  remove(projectId: string, webhookId: string): void {
    this.#database.run(
      this.#database.queries
        .deleteFrom('webhooks')
        .where('id', '=', webhookId)
        .where('project_id', '=', projectId),
    );
  }

  #ofProject(projectId: string) {
    return this.#database.queries.selectFrom('webhooks').where('project_id', '=', projectId);
  }
}

function webhookFrom(row: WebhookRow): Webhook {
  return {
    webhookId: row.id,
    projectId: row.project_id,
    events: JSON.parse(row.events) as EventType[],
    url: row.url,
    signatureSecret: row.signature_secret,
    createdAtMs: row.created_at_ms,
  };
}
