import type { Selectable } from 'kysely';
import type { Database } from '../../store/database.ts';
import type { WebhookAttemptRow, WebhookDeliveryRow } from '../../store/tables.ts';

/** States of a delivery: on its way before or after the first try, or over. */
export const deliveryStatuses = ['waiting', 'retrying', 'succeeded', 'failed'] as const;

/** A state of {@link deliveryStatuses}. */
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** An event on its way to a webhook, or the memory of it. */
export interface Delivery {
  readonly number: number;
  readonly deliveryId: string;
  readonly eventNumber: number;
  readonly type: string;
  readonly status: DeliveryStatus;
  readonly body: string;
  readonly attempts: number;
  readonly nextAttemptAtMs: number | undefined;
  /** Id of the delivery that this one repeats. */
  readonly resentFrom: string | undefined;
  readonly createdAtMs: number;
}

/** Deliveries as their owner reads them. */
export class DeliveriesStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** A delivery of a webhook. */
  find(webhookId: string, deliveryId: string): Delivery | undefined {
    const row = this.#database.first(
      this.#database.queries
        .selectFrom('webhook_deliveries')
        .selectAll()
        .where('id', '=', deliveryId)
        .where('webhook_id', '=', webhookId),
    );
    return row === undefined ? undefined : deliveryFrom(row);
  }

  /** One page of a webhook's deliveries by their creation, and how many there are on all pages. */
  list(
    webhookId: string,
    direction: 'asc' | 'desc',
    query: {
      status?: DeliveryStatus | undefined;
      type?: string | undefined;
      currentPage: number;
      pageSize: number;
    },
  ): { deliveries: Delivery[]; total: number } {
    const { queries } = this.#database;
    const { status, type } = query;
    let totals = queries
      .selectFrom('webhook_delivery_totals')
      .select(({ fn }) => fn.sum<number | null>('total').as('total'))
      .where('webhook_id', '=', webhookId);
    // Found in the index alone, and read afterwards: skipping rows is cheap only there.
    let numbers = queries
      .selectFrom('webhook_deliveries')
      .select('number')
      .where('webhook_id', '=', webhookId)
      .orderBy('number', direction)
      .limit(query.pageSize)
      .offset((query.currentPage - 1) * query.pageSize);
    if (status !== undefined) {
      totals = totals.where('state', '=', status);
      numbers = numbers.where('state', '=', status);
    }
    if (type !== undefined) {
      totals = totals.where('type', '=', type);
      numbers = numbers.where('type', '=', type);
    }
    const total = this.#database.first(totals)?.total ?? 0;
    if ((query.currentPage - 1) * query.pageSize >= total) return { deliveries: [], total };
    const rows = this.#database.all(
      queries
        .selectFrom('webhook_deliveries')
        .selectAll()
        .where('number', 'in', numbers)
        .orderBy('number', direction),
    );
    return { deliveries: rows.map(deliveryFrom), total };
  }

  /** The tries of a delivery, oldest first. */
  attempts(deliveryNumber: number): WebhookAttemptRow[] {
    return this.#database.all(
      this.#database.queries
        .selectFrom('webhook_attempts')
        .selectAll()
        .where('delivery_number', '=', deliveryNumber)
        .orderBy('attempt'),
    );
  }
}

function deliveryFrom(row: Selectable<WebhookDeliveryRow>): Delivery {
  return {
    number: row.number,
    deliveryId: row.id,
    eventNumber: row.event_number,
    type: row.type,
    status: row.state,
    body: row.body,
    attempts: row.attempts,
    nextAttemptAtMs: row.due_at_ms ?? undefined,
    resentFrom: row.resent_from ?? undefined,
    createdAtMs: row.created_at_ms,
  };
}
