import { sql } from 'kysely';
import { systemClock } from '../../shared/clock.ts';
import { newId } from '../../shared/ids.ts';
import type { Connection, Transaction } from '../../store/connection.ts';
import type { Database } from '../../store/database.ts';
import { databaseNowMs } from '../../store/database-clock.ts';
import { eventBody } from '../event-catalogue.ts';
import type { DeliveryError } from './delivery-error.ts';
import { type NewDelivery, prepareQueueStatements } from './webhook-statements.store.ts';

interface QueuedEvent {
  readonly projectId: string;
  readonly number: number;
  readonly type: string;
  readonly subjectId: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
}

export interface QueuedWebhook {
  readonly webhookId: string;
  readonly projectId: string;
}

export interface DueDelivery extends QueuedWebhook {
  readonly number: number;
  readonly deliveryId: string;
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
  readonly error: DeliveryError | undefined;
  readonly response: string | undefined;
}

interface EndedTest {
  readonly deliveryId: string;
  readonly webhook: QueuedWebhook;
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

/** Deliveries of one webhook above which the oldest fails in favour of the newest. */
const defaultMaxWaiting = 100_000;
export const maxExpeditedDeliveries = 200;
/** A receiver that fails now and then is tried far more often than one that is down. */
export const maxKeptAttempts = 100;

/**
 * Waits for other transactions that change the webhooks of a project or what is due to them: each must see the last
 * delivery of a sequence, so that exactly one is next.
 */
export function lockWebhooks(projectId: string, transaction: Transaction): Promise<void> {
  return transaction.lock('webhooks', projectId);
}

/**
 * Sends deliveries of one resource to one webhook in order: only the first is due, and triggers advance the
 * next one.
 */
export class WebhookQueue {
  readonly #database: Database;
  readonly #maxWaiting: number;
  readonly #statements: ReturnType<typeof prepareQueueStatements>;
  #dropped = 0;

  constructor(database: Database, options: { maxWaiting?: number } = {}) {
    this.#database = database;
    this.#maxWaiting = options.maxWaiting ?? defaultMaxWaiting;
    this.#statements = prepareQueueStatements(database);
  }

  /** Deliveries dropped on this server. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Tells of webhooks on all servers. @returns stops telling */
  watch(listeners: {
    /** Undefined: any webhook may have deliveries. */
    readonly changed: (webhookId: string | undefined) => void;
    readonly removed: (webhookId: string | undefined) => void;
  }): () => void {
    const { signals } = this.#database;
    const stops = [
      signals.listen('webhooks', listeners.changed),
      signals.listen('webhooks-removed', listeners.removed),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** @param transaction stores the event */
  async fanOut(event: QueuedEvent, transaction: Transaction): Promise<void> {
    const { projectId, type } = event;
    await lockWebhooks(projectId, transaction);
    const webhooks = await transaction.all(this.#statements.webhooks({ projectId }));
    const subscribers = webhooks.filter(({ events }) => (JSON.parse(events) as string[]).includes(type));
    if (subscribers.length === 0) return;
    const body = JSON.stringify(eventBody(event));
    for (const { webhookId } of subscribers) {
      const delivery: NewDelivery = {
        id: newId('delivery_'),
        webhookId,
        eventNumber: event.number,
        type,
        sequence: event.subjectId,
        body,
        resentFrom: null,
        atMs: event.createdAtMs,
      };
      await this.#add(delivery, transaction);
    }
  }

  /** Skips ahead of waiting deliveries. Returns the new id; undefined when the original does not exist. */
  resend(
    { webhookId, projectId }: QueuedWebhook,
    deliveryId: string,
    atMs: number,
  ): Promise<string | undefined> {
    return this.#database.transaction(async transaction => {
      await lockWebhooks(projectId, transaction);
      const original = await transaction.first(this.#statements.original({ deliveryId, webhookId }));
      if (original === undefined) return undefined;
      const id = newId('delivery_');
      await this.#add(
        { ...original, id, webhookId, sequence: id, resentFrom: deliveryId, atMs },
        transaction,
      );
      return id;
    });
  }

  /** Adds a test to the delivery log without queueing it. Returns false when its webhook was removed. */
  addTest({ deliveryId, webhook, type, body, isAccepted, resentFrom, record }: EndedTest): Promise<boolean> {
    const { queries } = this.#database;
    const { webhookId, projectId } = webhook;
    return this.#database.transaction(async transaction => {
      await lockWebhooks(projectId, transaction);
      const found = await transaction.first(
        queries.selectFrom('webhooks').select('id').where('id', '=', webhookId),
      );
      if (found === undefined) return false;
      const { number } = (await transaction.first(
        queries
          .insertInto('webhook_deliveries')
          .values({
            id: deliveryId,
            webhook_id: webhookId,
            event_number: 0,
            type,
            sequence: deliveryId,
            body,
            state: isAccepted ? 'succeeded' : 'failed',
            is_next: 0,
            attempts: 1,
            resent_from: resentFrom ?? null,
            created_at_ms: record.attemptedAtMs,
          })
          .returning('number'),
      ))!;
      await this.#writeAttempt(number, 1, record, transaction);
      return true;
    });
  }

  /** Sends deliveries that are due later to the new URL now. */
  async webhookUrlChanged(webhookId: string, nowMs: number, transaction: Transaction): Promise<void> {
    await this.expedite(webhookId, nowMs, maxExpeditedDeliveries, transaction);
    await this.#database.signals.send('webhooks', webhookId, transaction);
  }

  webhookRemoved(webhookId: string, transaction: Transaction): Promise<void> {
    return this.#database.signals.send('webhooks-removed', webhookId, transaction);
  }

  /** Returns the offset of the database's clock from `nowMs()`. Too large by the time of the query at most. */
  async clockOffsetMs(nowMs: () => number): Promise<number> {
    const { dialect, queries } = this.#database;
    if (dialect === 'sqlite') return 0;
    const askedAtMs = nowMs();
    const now = sql<number>`${databaseNowMs(this.#database, systemClock)}`.as('now');
    const row = await this.#database.first(queries.selectNoFrom(now));
    return row!.now - askedAtMs;
  }

  async webhooksWithPending(): Promise<string[]> {
    const rows = await this.#database.all(
      this.#database.queries
        .selectFrom('webhook_delivery_totals')
        .select('webhook_id')
        .distinct()
        .where('state', 'in', ['waiting', 'retrying'])
        .where('total', '>', 0),
    );
    return rows.map(row => row.webhook_id);
  }

  async pendingTotal(): Promise<number> {
    const row = await this.#database.first(
      this.#database.queries
        .selectFrom('webhook_delivery_totals')
        .select(({ fn }) => fn.sum<number | null>('total').as('total'))
        .where('state', 'in', ['waiting', 'retrying']),
    );
    return row?.total ?? 0;
  }

  /** Returns deliveries that come first in their sequence, ordered by due time. */
  async due(webhookId: string, nowMs: number, limit: number): Promise<DueDelivery[]> {
    const rows = await this.#database.all(this.#statements.due({ webhookId, nowMs, limit }));
    return rows.map(row => ({ ...row, firstAttemptAtMs: row.firstAttemptAtMs ?? undefined }));
  }

  async nextDueAtMs(webhookId: string, nowMs: number): Promise<number | undefined> {
    const row = await this.#database.first(this.#statements.nextDue({ webhookId, nowMs }));
    return row?.dueAtMs ?? undefined;
  }

  /** Ignores deliveries that were removed or are finished. @param outcomes of one project's webhooks */
  async record(projectId: string, outcomes: readonly AttemptOutcome[]): Promise<void> {
    const { finish, retry, removeAttempts } = this.#statements;
    await this.#database.transaction(async transaction => {
      await lockWebhooks(projectId, transaction);
      for (const { delivery, record, next } of outcomes) {
        const { number, deliveryId: id, attempts } = delivery;
        const changes = await transaction.run(
          typeof next === 'string'
            ? finish({ number, id, attempts, state: next })
            : retry({ number, id, attempts, atMs: next.retryAtMs, triedAtMs: record.attemptedAtMs }),
        );
        if (changes === 0) continue;
        const attempt = attempts + 1;
        await this.#writeAttempt(number, attempt, record, transaction);
        if (attempt > maxKeptAttempts) {
          await transaction.run(removeAttempts({ number, last: attempt - maxKeptAttempts }));
        }
      }
    });
  }

  expedite(
    webhookId: string,
    nowMs: number,
    limit: number,
    connection: Connection = this.#database,
  ): Promise<number> {
    return connection.run(this.#statements.expedite({ webhookId, nowMs, limit }));
  }

  async #writeAttempt(
    deliveryNumber: number,
    attempt: number,
    record: AttemptRecord,
    transaction: Transaction,
  ): Promise<void> {
    const { attemptedAtMs, durationMs, statusCode = null, error, response = null } = record;
    await transaction.run(
      this.#statements.insertAttempt({
        number: deliveryNumber,
        attempt,
        attemptedAtMs,
        durationMs,
        statusCode,
        error: error?.text ?? null,
        errorCode: error?.code ?? null,
        response,
      }),
    );
  }

  async #add(delivery: NewDelivery, transaction: Transaction): Promise<void> {
    const { waiting, oldest, giveUp, insert } = this.#statements;
    const { webhookId } = delivery;
    const total = (await transaction.first(waiting({ webhookId })))?.total ?? 0;
    const isFull = total >= this.#maxWaiting;
    if (isFull) {
      const number = (await transaction.first(oldest({ webhookId })))?.number ?? undefined;
      if (number !== undefined) await transaction.run(giveUp({ number }));
    }
    await transaction.run(insert(delivery));
    transaction.afterCommit(() => {
      if (isFull) this.#dropped += 1;
    });
    await this.#database.signals.send('webhooks', webhookId, transaction);
  }
}
