import { newId } from '../../shared/ids.ts';
import type { Database } from '../../store/database.ts';
import { eventBody } from '../event-body.ts';
import { type NewDelivery, prepareQueueStatements } from './webhook-statements.store.ts';

/** An event that is to be told to the webhooks of its project. */
export interface QueuedEvent {
  readonly projectId: string;
  readonly number: number;
  readonly type: string;
  readonly subjectId: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
}

/** A delivery whose turn it is, with all that a try needs. */
export interface DueDelivery {
  readonly number: number;
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly url: string;
  readonly signatureSecret: string;
  readonly eventNumber: number;
  readonly body: string;
  /** Tries that were made. */
  readonly attempts: number;
  readonly firstAttemptAtMs: number | undefined;
}

/** One try as it is written down. */
export interface AttemptRecord {
  readonly attemptedAtMs: number;
  readonly durationMs: number;
  readonly statusCode: number | undefined;
  readonly error: string | undefined;
  /** The beginning of the answer. */
  readonly response: string | undefined;
}

/** A test of a webhook that has ended: it was tried once, and is not tried again. */
export interface EndedTest {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly type: string;
  readonly body: string;
  readonly isAccepted: boolean;
  /** Id of the test that this one repeats. */
  readonly resentFrom: string | undefined;
  readonly record: AttemptRecord;
}

/** What becomes of a delivery after a try: over, or tried again then. */
export type NextStep = 'succeeded' | 'failed' | { readonly retryAtMs: number };

/** A try that has ended. */
export interface AttemptOutcome {
  readonly delivery: DueDelivery;
  readonly record: AttemptRecord;
  readonly next: NextStep;
}

/** Maximum number of waiting deliveries of one webhook; above it, the oldest fails in favour of the newest. */
const defaultMaxWaiting = 100_000;
export const maxExpeditedDeliveries = 200;
/** Maximum number of stored attempts of one delivery: a receiver that fails now and then is tried far more often than one that is down. */
export const maxKeptAttempts = 100;

/**
 * Stores the deliveries to webhooks. Deliveries of one resource to one webhook are sent in order: only the first is due, and triggers
 * advance the next one. There is one per server: it tracks the webhooks with new deliveries.
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

  /** How many were given up because too many waited, since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /**
   * Calls `listener` soon after something changed, once for all of a moment; {@link takeChangedWebhooks} and {@link takeRemovedWebhooks} say what.
   *
   * @returns ends that
   */
  onChanged(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** The webhooks that got deliveries since the last time. */
  takeChangedWebhooks(): string[] {
    return taken(this.#changed);
  }

  /** The webhooks that were removed since the last time. */
  takeRemovedWebhooks(): string[] {
    return taken(this.#removed);
  }

  /** Queues an event for each webhook that subscribes to it, in the transaction that writes the event down. */
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

  /** Queues what was delivered once more, at once whatever waits; the new delivery's id, undefined when there is none to be sent again. */
  resend(webhookId: string, deliveryId: string, atMs: number): string | undefined {
    const original = this.#statements.original.first({ deliveryId, webhookId });
    if (original === undefined) return undefined;
    const id = newId('delivery_');
    this.#database.transaction(() =>
      this.#add({ ...original, id, webhookId, sequence: id, resentFrom: deliveryId, atMs }),
    );
    return id;
  }

  /** Writes a test into the log, unless its webhook is gone; whether it was written. It has no number, and nothing waits for it. */
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

  /** To be called when the address of a webhook changed: what would be tried later is tried now, at the new one. */
  webhookUrlChanged(webhookId: string, nowMs: number): void {
    this.expedite(webhookId, nowMs, maxExpeditedDeliveries);
    this.#changed.add(webhookId);
    this.#notifySoon();
  }

  /** To be called when a webhook was removed: what is under way to it ends. */
  webhookRemoved(webhookId: string): void {
    this.#removed.add(webhookId);
    this.#notifySoon();
  }

  /** The webhooks to which something is on its way. */
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

  /** How many deliveries are on their way to all webhooks. */
  pendingTotal(): number {
    const row = this.#database.first(
      this.#database.queries
        .selectFrom('webhook_delivery_totals')
        .select(({ fn }) => fn.sum<number | null>('total').as('total'))
        .where('state', 'in', ['waiting', 'retrying']),
    );
    return row?.total ?? 0;
  }

  /** Deliveries of a webhook whose turn and time it is, those of the earliest time first. */
  due(webhookId: string, nowMs: number, limit: number): DueDelivery[] {
    return this.#statements.due
      .all({ webhookId, nowMs, limit })
      .map(row => ({ ...row, firstAttemptAtMs: row.firstAttemptAtMs ?? undefined }));
  }

  /** When the first delivery of a webhook is due whose time is still to come. */
  nextDueAtMs(webhookId: string, nowMs: number): number | undefined {
    return this.#statements.nextDue.first({ webhookId, nowMs })?.dueAtMs ?? undefined;
  }

  /** Writes down how tries ended, all or none. Nothing is written for a delivery that is gone or over. */
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

  /** Makes deliveries that would be retried later due now; returns their number. */
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

  /** A transaction has no `await` in it, so it is over when the next turn comes. */
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
