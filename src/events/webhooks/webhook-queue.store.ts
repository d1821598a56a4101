import { newId } from '../../shared/ids.ts';
import type { Database } from '../../store/database.ts';
import { eventBody } from '../event-body.ts';

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

interface DueColumns {
  number: number;
  id: string;
  webhook_id: string;
  url: string;
  signature_secret: string;
  event_number: number;
  body: string;
  attempts: number;
  first_attempt_at_ms: number | null;
}

interface InsertColumns {
  id: string;
  webhookId: string;
  eventNumber: number;
  type: string;
  sequence: string;
  body: string;
  resentFrom: string | null;
  atMs: number;
}

/** Of one webhook. Beyond it the oldest is given up for the newest. */
export const maxWaitingDeliveries = 100_000;
/** Deliveries that are tried sooner together. */
export const maxExpeditedDeliveries = 200;
/** Of one delivery, the newest: a receiver that comes and goes is tried far more often than one that stays away. */
export const maxKeptAttempts = 100;

/**
 * What is on its way to webhooks. Deliveries of one resource to one webhook follow each other: only the first of them is due, and
 * triggers give the next one its turn. One for a server: it knows which webhooks have something new.
 */
export class WebhookQueue {
  readonly #database: Database;
  readonly #waitingAtMost: number;
  readonly #subscribers;
  readonly #insert;
  readonly #waiting;
  readonly #oldest;
  readonly #due;
  readonly #nextDue;
  readonly #finish;
  readonly #retry;
  readonly #giveUp;
  readonly #addAttempt;
  readonly #forgetAttempts;
  readonly #hasten;
  readonly #original;
  readonly #touched = new Set<string>();
  readonly #removed = new Set<string>();
  readonly #listeners = new Set<() => void>();
  #isTelling = false;
  #dropped = 0;

  constructor(database: Database, options: { waitingAtMost?: number } = {}) {
    const { sqlite } = database;
    this.#database = database;
    this.#waitingAtMost = options.waitingAtMost ?? maxWaitingDeliveries;
    this.#subscribers = sqlite
      .prepare<[string, string], string>(
        `SELECT id FROM webhooks
          WHERE project_id = ? AND EXISTS (SELECT 1 FROM json_each(webhooks.events) WHERE value = ?)`,
      )
      .pluck();
    this.#insert = sqlite.prepare<InsertColumns>(
      `INSERT INTO webhook_deliveries
          (id, webhook_id, event_number, type, sequence, body, state, is_next, due_at_ms, attempts, resent_from, created_at_ms)
        VALUES (@id, @webhookId, @eventNumber, @type, @sequence, @body, 'waiting',
          NOT EXISTS (SELECT 1 FROM webhook_deliveries
            WHERE webhook_id = @webhookId AND sequence = @sequence AND due_at_ms IS NOT NULL),
          @atMs, 0, @resentFrom, @atMs)`,
    );
    this.#waiting = sqlite
      .prepare<[string], number>(
        `SELECT coalesce(sum(total), 0) FROM webhook_delivery_totals
          WHERE webhook_id = ? AND state IN ('waiting', 'retrying')`,
      )
      .pluck();
    const oldestOf = (state: string) =>
      `SELECT number FROM (SELECT number FROM webhook_deliveries
        WHERE webhook_id = @webhookId AND state = '${state}' ORDER BY number LIMIT 1)`;
    this.#oldest = sqlite
      .prepare<{ webhookId: string }, number>(
        `SELECT min(number) FROM (${oldestOf('waiting')} UNION ALL ${oldestOf('retrying')})`,
      )
      .pluck();
    this.#due = sqlite.prepare<[string, number, number], DueColumns>(
      `SELECT d.number, d.id, d.webhook_id, w.url, w.signature_secret, d.event_number, d.body, d.attempts, d.first_attempt_at_ms
        FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
        WHERE d.webhook_id = ? AND d.is_next = 1 AND d.due_at_ms <= ? ORDER BY d.due_at_ms, d.number LIMIT ?`,
    );
    this.#nextDue = sqlite
      .prepare<[string, number], number>(
        `SELECT due_at_ms FROM webhook_deliveries
          WHERE webhook_id = ? AND is_next = 1 AND due_at_ms > ?
            AND EXISTS (SELECT 1 FROM webhooks WHERE id = webhook_id) ORDER BY due_at_ms LIMIT 1`,
      )
      .pluck();
    // By its id as well: the number of a delivery that was removed meanwhile may be that of another one now.
    this.#finish = sqlite.prepare<['succeeded' | 'failed', number, string]>(
      `UPDATE webhook_deliveries
        SET state = ?, is_next = 0, due_at_ms = NULL, attempts = attempts + 1
        WHERE number = ? AND id = ? AND due_at_ms IS NOT NULL`,
    );
    this.#retry = sqlite.prepare<[number, number, number, string]>(
      `UPDATE webhook_deliveries
        SET state = 'retrying', due_at_ms = ?, attempts = attempts + 1,
          first_attempt_at_ms = coalesce(first_attempt_at_ms, ?)
        WHERE number = ? AND id = ? AND due_at_ms IS NOT NULL`,
    );
    this.#giveUp = sqlite.prepare<[number]>(
      `UPDATE webhook_deliveries SET state = 'failed', is_next = 0, due_at_ms = NULL WHERE number = ?`,
    );
    this.#addAttempt = sqlite.prepare<
      [number, number, number, number, number | null, string | null, string | null]
    >(
      `INSERT INTO webhook_attempts
          (delivery_number, attempt, attempted_at_ms, duration_ms, status_code, error, response)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#forgetAttempts = sqlite.prepare<[number, number]>(
      'DELETE FROM webhook_attempts WHERE delivery_number = ? AND attempt <= ?',
    );
    this.#hasten = sqlite.prepare<[number, string, number, number]>(
      `UPDATE webhook_deliveries SET due_at_ms = ? WHERE number IN (
        SELECT number FROM webhook_deliveries
          WHERE webhook_id = ? AND is_next = 1 AND due_at_ms > ? ORDER BY due_at_ms LIMIT ?)`,
    );
    this.#original = sqlite.prepare<[string, string], { event_number: number; type: string; body: string }>(
      'SELECT event_number, type, body FROM webhook_deliveries WHERE id = ? AND webhook_id = ?',
    );
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
    return taken(this.#touched);
  }

  /** The webhooks that were removed since the last time. */
  takeRemovedWebhooks(): string[] {
    return taken(this.#removed);
  }

  /** Queues an event for each webhook that subscribes to it, in the transaction that writes the event down. */
  fanOut(event: QueuedEvent): void {
    const webhookIds = this.#subscribers.all(event.projectId, event.type);
    if (webhookIds.length === 0) return;
    const body = JSON.stringify(eventBody(event));
    for (const webhookId of webhookIds) {
      this.#add({
        id: newId('delivery_'),
        webhookId,
        eventNumber: event.number,
        type: event.type,
        sequence: event.subjectId,
        body,
        resentFrom: null,
        atMs: event.createdAtMs,
      });
    }
  }

  /** Queues what was delivered once more, at once whatever waits; the new delivery's id, undefined when there is none to be sent again. */
  resend(webhookId: string, deliveryId: string, atMs: number): string | undefined {
    const original = this.#original.get(deliveryId, webhookId);
    if (original === undefined) return undefined;
    const { event_number: eventNumber, type, body } = original;
    const id = newId('delivery_');
    this.#database.transaction(() =>
      this.#add({ id, webhookId, eventNumber, type, sequence: id, body, resentFrom: deliveryId, atMs }),
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
    this.#touched.add(webhookId);
    this.#tellSoon();
  }

  /** To be called when a webhook was removed: what is under way to it ends. */
  webhookRemoved(webhookId: string): void {
    this.#removed.add(webhookId);
    this.#tellSoon();
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
  due(webhookId: string, nowMs: number, countAtMost: number): DueDelivery[] {
    return this.#due.all(webhookId, nowMs, countAtMost).map(row => ({
      number: row.number,
      deliveryId: row.id,
      webhookId: row.webhook_id,
      url: row.url,
      signatureSecret: row.signature_secret,
      eventNumber: row.event_number,
      body: row.body,
      attempts: row.attempts,
      firstAttemptAtMs: row.first_attempt_at_ms ?? undefined,
    }));
  }

  /** When the first delivery of a webhook is due whose time is still to come. */
  nextDueAtMs(webhookId: string, nowMs: number): number | undefined {
    return this.#nextDue.get(webhookId, nowMs);
  }

  /** Writes down how tries ended, all or none. Nothing is written for a delivery that is gone or over. */
  record(outcomes: readonly AttemptOutcome[]): void {
    this.#database.transaction(() => {
      for (const { delivery, record, next } of outcomes) {
        const { changes } =
          typeof next === 'string'
            ? this.#finish.run(next, delivery.number, delivery.deliveryId)
            : this.#retry.run(next.retryAtMs, record.attemptedAtMs, delivery.number, delivery.deliveryId);
        if (changes === 0) continue;
        const attempt = delivery.attempts + 1;
        this.#writeAttempt(delivery.number, attempt, record);
        if (attempt > maxKeptAttempts) {
          this.#forgetAttempts.run(delivery.number, attempt - maxKeptAttempts);
        }
      }
    });
  }

  /** Makes due now what would be tried later; how many that were. */
  expedite(webhookId: string, nowMs: number, countAtMost: number): number {
    return this.#hasten.run(nowMs, webhookId, nowMs, countAtMost).changes;
  }

  #writeAttempt(deliveryNumber: number, attempt: number, record: AttemptRecord): void {
    const { attemptedAtMs, durationMs, statusCode = null, error = null, response = null } = record;
    this.#addAttempt.run(deliveryNumber, attempt, attemptedAtMs, durationMs, statusCode, error, response);
  }

  #add(delivery: InsertColumns): void {
    const { webhookId } = delivery;
    if (this.#waiting.get(webhookId)! >= this.#waitingAtMost) {
      const oldest = this.#oldest.get({ webhookId });
      if (oldest !== undefined) this.#giveUp.run(oldest);
      this.#dropped += 1;
    }
    this.#insert.run(delivery);
    this.#touched.add(webhookId);
    this.#tellSoon();
  }

  /** A transaction has no `await` in it, so it is over when the next turn comes. */
  #tellSoon(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    setImmediate(() => {
      this.#isTelling = false;
      for (const listener of [...this.#listeners]) listener();
    });
  }
}

function taken(ids: Set<string>): string[] {
  const all = [...ids];
  ids.clear();
  return all;
}
