import type { EventType } from '../../events/event-catalogue.ts';
import type { Database } from '../../store/database.ts';
import type { WebhookRow } from '../../store/tables.ts';
import type { Webhook } from './webhook.ts';

/** Webhooks in the database. A project has so few that they are always read together. */
export class WebhooksStore {
  readonly #database: Database;
  readonly #countOfProject;

  constructor(database: Database) {
    this.#database = database;
    this.#countOfProject = database.sqlite
      .prepare<[string], number>('SELECT count(*) FROM webhooks WHERE project_id = ?')
      .pluck();
  }

  /** A webhook of a project. */
  find(projectId: string, webhookId: string): Webhook | undefined {
    const row = this.#database.first(
      this.#database.queries
        .selectFrom('webhooks')
        .selectAll()
        .where('id', '=', webhookId)
        .where('project_id', '=', projectId),
    );
    return row === undefined ? undefined : webhookFrom(row);
  }

  /** All webhooks of a project by their creation. */
  all(projectId: string, direction: 'asc' | 'desc'): Webhook[] {
    return this.#database
      .all(
        this.#database.queries
          .selectFrom('webhooks')
          .selectAll()
          .where('project_id', '=', projectId)
          .orderBy('created_at_ms', direction)
          .orderBy('id', direction),
      )
      .map(webhookFrom);
  }

  /** Adds a webhook, unless its project has `maxWebhooks` already. @returns whether it was added */
  add(webhook: Webhook, maxWebhooks: number): boolean {
    return this.#database.transaction(() => {
      if (this.#countOfProject.get(webhook.projectId)! >= maxWebhooks) return false;
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

  /** Changes the address and the events of a webhook. */
  change({ projectId, webhookId, events, url }: Webhook): void {
    this.#database.run(
      this.#database.queries
        .updateTable('webhooks')
        .set({ events: JSON.stringify(events), url })
        .where('id', '=', webhookId)
        .where('project_id', '=', projectId),
    );
  }

  /** Removes a webhook of a project; its deliveries are removed by and by. */
  remove(projectId: string, webhookId: string): void {
    this.#database.run(
      this.#database.queries
        .deleteFrom('webhooks')
        .where('id', '=', webhookId)
        .where('project_id', '=', projectId),
    );
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
