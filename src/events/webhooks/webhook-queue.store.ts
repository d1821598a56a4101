import { newId } from '../../shared/ids.ts';
import type { Database } from '../../store/database.ts';
import { eventBody } from '../event-catalogue.ts';
import { type NewDelivery, prepareQueueStatements } from './webhook-statements.store.ts';

interface QueuedEvent {
  readonly projectId: string;
  readonly number: number;
  readonly type: string;
  readonly subjectId: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
}

export interface DueDelivery {
  readonly number: number;
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly url: string;
  readonly signatureSecret: string;
  readonly eventNumber: number;
  readonly body: string;
  readonly attempts: number;
  readonly firstAttemptAtMs: number | undefined;
}

interface AttemptRecord {
  readonly attemptedAtMs: number;
  readonly durationMs: number;
  readonly statusCode: number | undefined;
  readonly error: string | undefined;
  readonly response: string | undefined;
}

interface EndedTest {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly type: string;
  readonly body: string;
  readonly isAccepted: boolean;
  readonly resentFrom: string | undefined;
  readonly record: AttemptRecord;
}

export type NextStep = 'succeeded' | 'failed' | { readonly retryAtMs: number };

export interface AttemptOutcome {
  readonly delivery: DueDelivery;
  readonly record: AttemptRecord;
  readonly next: NextStep;
}

/** Of one webhook; above it, the oldest delivery fails in favour of the newest. */
const defaultMaxWaiting = 100_000;
export const maxExpeditedDeliveries = 200;
/** A receiver that fails now and then is tried far more often than one that is down. */
export const maxKeptAttempts = 100;

/**
 * Sends deliveries of one resource to one webhook in order: only the first is due, and triggers advance the
 * next one. One instance per server: it tracks the webhooks with new deliveries.
 */
export class WebhookQueue {
  readonly #database: Database;
  readonly #maxWaiting: number;
  readonly #statements: ReturnType<typeof prepareQueueStatements>;
  readonly #changed = new Set<string>();
  readonly #removed = new Set<string>();
  readonly #listeners = new Set<() => void>();
  #isNotifying = false;
  #dropped = 0;

  constructor(database: Database, options: { maxWaiting?: number } = {}) {
    this.#database = database;
    this.#maxWaiting = options.maxWaiting ?? defaultMaxWaiting;
    this.#statements = prepareQueueStatements(database);
  }

  get dropped(): number {
    return this.#dropped;
  }

  /** Calls `listener` once for all changes of one event loop iteration. @returns removes it */
  onChanged(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  takeChangedWebhooks(): string[] {
    return taken(this.#changed);
  }

  takeRemovedWebhooks(): string[] {
    return taken(this.#removed);
  }

  /** Must be called in the transaction that stores the event. */
  fanOut(event: QueuedEvent): void {
    const { projectId, type } = event;
    const subscribers = this.#statements.subscribers.all({ projectId, type });
    if (subscribers.length === 0) return;
    const body = JSON.stringify(eventBody(event));
    for (const { webhookId } of subscribers) {
      this.#add({
        id: newId('delivery_'),
        webhookId,
        eventNumber: event.number,
        type,
        sequence: event.subjectId,
        body,
        resentFrom: null,
        atMs: event.createdAtMs,
      });
    }
  }

  /** Skips ahead of waiting deliveries. Returns the new id; undefined when the original does not exist. */
  resend(webhookId: string, deliveryId: string, atMs: number): string | undefined {
    const original = this.#statements.original.first({ deliveryId, webhookId });
    if (original === undefined) return undefined;
    const id = newId('delivery_');
    this.#database.transaction(() =>
      this.#add({ ...original, id, webhookId, sequence: id, resentFrom: deliveryId, atMs }),
    );
    return id;
  }

  /** Adds a test to the delivery log without queueing it. Returns false when its webhook was removed. */
  addTest({ deliveryId, webhookId, type, body, isAccepted, resentFrom, record }: EndedTest): boolean {
    const { queries } = this.#database;
    return this.#database.transaction(() => {
      const webhook = this.#database.first(
        queries.selectFrom('webhooks').select('id').where('id', '=', webhookId),
      );
      if (webhook === undefined) return false;
      this.#database.run(
        queries.insertInto('webhook_deliveries').values({
          ...{ id: deliveryId, webhook_id: webhookId, event_number: 0, type, sequence: deliveryId, body },
          ...{ state: isAccepted ? 'succeeded' : 'failed', is_next: 0, attempts: 1 },
          ...{ resent_from: resentFrom ?? null, created_at_ms: record.attemptedAtMs },
        }),
      );
      const { number } = this.#database.first(
        queries.selectFrom('webhook_deliveries').select('number').where('id', '=', deliveryId),
      )!;
      this.#writeAttempt(number, 1, record);
      return true;
    });
  }

  /** Sends deliveries that are due later to the new URL now. */
  webhookUrlChanged(webhookId: string, nowMs: number): void {
    this.expedite(webhookId, nowMs, maxExpeditedDeliveries);
    this.#changed.add(webhookId);
    this.#notifySoon();
  }

  webhookRemoved(webhookId: string): void {
    this.#removed.add(webhookId);
    this.#notifySoon();
  }

  webhooksWithPending(): string[] {
    return this.#database
      .all(
        this.#database.queries
          .selectFrom('webhook_delivery_totals')
          .select('webhook_id')
          .distinct()
          .where('state', 'in', ['waiting', 'retrying'])
          .where('total', '>', 0),
      )
      .map(row => row.webhook_id);
  }

  pendingTotal(): number {
    const row = this.#database.first(
      this.#database.queries
        .selectFrom('webhook_delivery_totals')
        .select(({ fn }) => fn.sum<number | null>('total').as('total'))
        .where('state', 'in', ['waiting', 'retrying']),
    );
    return row?.total ?? 0;
  }

  /** Returns deliveries that come first in their sequence, ordered by due time. */
  due(webhookId: string, nowMs: number, limit: number): DueDelivery[] {
    return this.#statements.due
      .all({ webhookId, nowMs, limit })
      .map(row => ({ ...row, firstAttemptAtMs: row.firstAttemptAtMs ?? undefined }));
  }

  nextDueAtMs(webhookId: string, nowMs: number): number | undefined {
    return this.#statements.nextDue.first({ webhookId, nowMs })?.dueAtMs ?? undefined;
  }

  /** Uses one transaction. Ignores deliveries that were removed or are finished. */
  record(outcomes: readonly AttemptOutcome[]): void {
    this.#database.transaction(() => {
      for (const { delivery, record, next } of outcomes) {
        const { number, deliveryId: id } = delivery;
        const changes =
          typeof next === 'string'
            ? this.#statements.finish.run({ number, id, state: next })
            : this.#statements.retry.run({
                number,
                id,
                atMs: next.retryAtMs,
                triedAtMs: record.attemptedAtMs,
              });
        if (changes === 0) continue;
        const attempt = delivery.attempts + 1;
        this.#writeAttempt(number, attempt, record);
        if (attempt > maxKeptAttempts) {
          this.#statements.removeAttempts.run({ number, last: attempt - maxKeptAttempts });
        }
      }
    });
  }

  expedite(webhookId: string, nowMs: number, limit: number): number {
    return this.#statements.expedite.run({ webhookId, nowMs, limit });
  }

  #writeAttempt(deliveryNumber: number, attempt: number, record: AttemptRecord): void {
    const { attemptedAtMs, durationMs, statusCode = null, error = null, response = null } = record;
    this.#statements.insertAttempt.run({
      ...{ number: deliveryNumber, attempt, attemptedAtMs, durationMs },
      ...{ statusCode, error, response },
    });
  }

  #add(delivery: NewDelivery): void {
    const { webhookId } = delivery;
    if ((this.#statements.waiting.first({ webhookId })?.total ?? 0) >= this.#maxWaiting) {
      const number = this.#statements.oldest.first({ webhookId })?.number ?? undefined;
      if (number !== undefined) this.#statements.giveUp.run({ number });
      this.#dropped += 1;
    }
    this.#statements.insert.run(delivery);
    this.#changed.add(webhookId);
    this.#notifySoon();
  }

  /** Transactions are synchronous, so this one has ended by the next iteration of the event loop. */
  #notifySoon(): void {
    if (this.#isNotifying) return;
    this.#isNotifying = true;
    setImmediate(() => {
      this.#isNotifying = false;
      for (const listener of [...this.#listeners]) listener();
    });
  }
}

function taken(ids: Set<string>): string[] {
  const all = [...ids];
  ids.clear();
  return all;
}
