import type { Database } from '../../store/database.ts';
import { lockWebhooks } from './webhook-queue.store.ts';

export const deliveryRetentionMs = 7 * 24 * 3_600_000;
/** Deliveries of one webhook above which the oldest finished ones are removed. */
const defaultMaxKept = 100_000;

/** Removes old deliveries. Its queries run a few times per minute, so they are not prepared. */
export class DeliveryCleanupStore {
  readonly #database: Database;
  readonly #maxKept: number;

  constructor(database: Database, options: { maxKept?: number } = {}) {
    this.#database = database;
    this.#maxKept = options.maxKept ?? defaultMaxKept;
  }

  /** Returns 0 when none are left. */
  removeOrphans(limit: number): Promise<number> {
    const { queries } = this.#database;
    return this.#database.transaction(async transaction => {
      const removed = await transaction.first(
        queries.selectFrom('removed_webhooks').select('webhook_id').limit(1),
      );
      if (removed === undefined) return 0;
      const { webhook_id: webhookId } = removed;
      // Newest first: removing the last of a sequence advances no other delivery.
      const newest = this.#numbersOf(webhookId).orderBy('number', 'desc').limit(limit);
      const count = await transaction.run(
        queries.deleteFrom('webhook_deliveries').where('number', 'in', newest),
      );
      if (count >= limit) return count;
      await transaction.run(
        queries.deleteFrom('webhook_delivery_totals').where('webhook_id', '=', webhookId),
      );
      await transaction.run(queries.deleteFrom('removed_webhooks').where('webhook_id', '=', webhookId));
      // Returns at least 1: another webhook may have some.
      return Math.max(1, count);
    });
  }

  /** Removes waiting deliveries, too, of one project at a time. Returns the number. */
  removeExpired(nowMs: number, limit: number): Promise<number> {
    const { queries } = this.#database;
    return this.#database.transaction(async transaction => {
      const expired = await transaction.all(
        queries
          .selectFrom('webhook_deliveries as delivery')
          .leftJoin('webhooks as webhook', 'webhook.id', 'delivery.webhook_id')
          .select(['delivery.number', 'webhook.project_id as projectId'])
          .where('delivery.created_at_ms', '<', nowMs - deliveryRetentionMs)
          .orderBy('delivery.created_at_ms')
          .limit(limit),
      );
      const oldest = expired[0];
      if (oldest === undefined) return 0;
      const { projectId } = oldest;
      if (projectId !== null) await lockWebhooks(projectId, transaction);
      const numbers = expired.filter(delivery => delivery.projectId === projectId).map(row => row.number);
      return transaction.run(queries.deleteFrom('webhook_deliveries').where('number', 'in', numbers));
    });
  }

  async removeExcess(limit: number): Promise<number> {
    const { queries } = this.#database;
    const excessive = await this.#database.first(
      queries
        .selectFrom('webhook_delivery_totals as totals')
        .innerJoin('webhooks as webhook', 'webhook.id', 'totals.webhook_id')
        .select(({ fn }) => ['webhook_id', 'project_id', fn.sum<number>('total').as('total')])
        .where('state', 'in', ['succeeded', 'failed'])
        .groupBy(['webhook_id', 'project_id'])
        .having(({ fn }) => fn.sum<number>('total'), '>', this.#maxKept)
        .limit(1),
    );
    if (excessive === undefined) return 0;
    const count = Math.min(excessive.total - this.#maxKept, limit);
    // One query per state: each follows an index in the order of the numbers.
    const oldestOf = (state: 'succeeded' | 'failed') =>
      queries
        .selectFrom(
          this.#numbersOf(excessive.webhook_id)
            .where('state', '=', state)
            .orderBy('number')
            .limit(count)
            .as(state),
        )
        .select('number');
    const oldest = queries
      .selectFrom(oldestOf('succeeded').unionAll(oldestOf('failed')).as('oldest'))
      .select('number')
      .orderBy('number')
      .limit(count);
    return this.#database.transaction(async transaction => {
      await lockWebhooks(excessive.project_id, transaction);
      return transaction.run(queries.deleteFrom('webhook_deliveries').where('number', 'in', oldest));
    });
  }

  #numbersOf(webhookId: string) {
    const { queries } = this.#database;
    return queries.selectFrom('webhook_deliveries').select('number').where('webhook_id', '=', webhookId);
  }
}
