import type { Database } from '../../store/database.ts';

/** How long a delivery is remembered. */
export const deliveryRetentionMs = 7 * 24 * 3_600_000;
/** Deliveries of one webhook that are over; beyond it the oldest are forgotten. */
export const maxKeptDeliveries = 100_000;

/** Forgets deliveries, a few at a time. */
export class DeliveryCleanupStore {
  readonly #database: Database;
  readonly #keptAtMost: number;
  readonly #ofRemoved;
  readonly #removedDone;
  readonly #expired;
  readonly #crowded;
  readonly #excess;

  constructor(database: Database, options: { keptAtMost?: number } = {}) {
    const { sqlite } = database;
    this.#database = database;
    this.#keptAtMost = options.keptAtMost ?? maxKeptDeliveries;
    // The newest first: those who wait their turn behind others go before these.
    this.#ofRemoved = sqlite.prepare<[string, number]>(
      `DELETE FROM webhook_deliveries WHERE number IN (
        SELECT number FROM webhook_deliveries WHERE webhook_id = ? ORDER BY number DESC LIMIT ?)`,
    );
    this.#removedDone = sqlite.prepare<[string]>('DELETE FROM removed_webhooks WHERE webhook_id = ?');
    this.#expired = sqlite.prepare<[number, number]>(
      `DELETE FROM webhook_deliveries WHERE number IN (
        SELECT number FROM webhook_deliveries WHERE created_at_ms < ? ORDER BY created_at_ms LIMIT ?)`,
    );
    this.#crowded = sqlite.prepare<{ keptAtMost: number }, { webhook_id: string; excess: number }>(
      `SELECT webhook_id, sum(total) - @keptAtMost AS excess FROM webhook_delivery_totals
        WHERE state IN ('succeeded', 'failed') GROUP BY webhook_id HAVING sum(total) > @keptAtMost LIMIT 1`,
    );
    const oldestOf = (state: string) =>
      `SELECT number FROM (SELECT number FROM webhook_deliveries
        WHERE webhook_id = @webhookId AND state = '${state}' ORDER BY number LIMIT @count)`;
    this.#excess = sqlite.prepare<{ webhookId: string; count: number }>(
      `DELETE FROM webhook_deliveries WHERE number IN (
        SELECT number FROM (${oldestOf('succeeded')} UNION ALL ${oldestOf('failed')}) ORDER BY number LIMIT @count)`,
    );
  }

  /** Removes deliveries of webhooks that are gone; how many, 0 when none is left. */
  removeOrphans(countAtMost: number): number {
    const { queries } = this.#database;
    return this.#database.transaction(() => {
      const removed = this.#database.first(queries.selectFrom('removed_webhooks').selectAll().limit(1));
      if (removed === undefined) return 0;
      const { changes } = this.#ofRemoved.run(removed.webhook_id, countAtMost);
      if (changes >= countAtMost) return changes;
      this.#database.run(
        queries.deleteFrom('webhook_delivery_totals').where('webhook_id', '=', removed.webhook_id),
      );
      this.#removedDone.run(removed.webhook_id);
      // Another one may have some.
      return Math.max(1, changes);
    });
  }

  /** Removes deliveries that are older than they are kept; how many. What still waited is not sent any more. */
  removeExpired(nowMs: number, countAtMost: number): number {
    return this.#expired.run(nowMs - deliveryRetentionMs, countAtMost).changes;
  }

  /** Removes the oldest deliveries of a webhook that has more than are kept; how many, 0 when none has. */
  removeExcess(countAtMost: number): number {
    const crowded = this.#crowded.get({ keptAtMost: this.#keptAtMost });
    if (crowded === undefined) return 0;
    const count = Math.min(crowded.excess, countAtMost);
    return this.#excess.run({ webhookId: crowded.webhook_id, count }).changes;
  }
}
