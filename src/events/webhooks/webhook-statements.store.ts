import { type Expression, sql } from 'kysely';
import { systemClock } from '../../shared/clock.ts';
import type { Database } from '../../store/database.ts';
import { databaseNowMs } from '../../store/database-clock.ts';
import { type Bound, prepareQuery } from '../../store/prepared-query.ts';
import type { DeliveryErrorCode } from './delivery-error.ts';

interface AttemptParameters {
  readonly number: number;
  readonly attempt: number;
  readonly attemptedAtMs: number;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly errorCode: DeliveryErrorCode | null;
  readonly response: string | null;
}

interface FinishedDelivery {
  readonly number: number;
  readonly id: string;
  /** Attempts before this one. */
  readonly attempts: number;
}

/** A literal: the partial index of due deliveries is not used with a parameter. */
const isNext = sql.lit(1);

export interface NewDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly eventNumber: number;
  readonly type: string;
  readonly sequence: string;
  readonly body: string;
  readonly resentFrom: string | null;
  readonly atMs: number;
}

export function prepareQueueStatements(database: Database) {
  return { ...insertStatements(database), ...dueStatements(database), ...outcomeStatements(database) };
}

/** The time of this server, or that of the database when this one is ahead: another server sends what is due. */
function nowBy(database: Database): (ownMs: Expression<number>) => Expression<number> {
  if (database.dialect === 'sqlite') return ownMs => ownMs;
  return ownMs => sql<number>`least(${ownMs}, ${databaseNowMs(database, systemClock)})`;
}

function insertStatements(database: Database) {
  const { queries } = database;
  const now = nowBy(database);
  const deliveries = queries.selectFrom('webhook_deliveries');
  return {
    webhooks: prepareQuery(({ projectId }: Bound<{ projectId: string }>) =>
      queries
        .selectFrom('webhooks')
        .select(['id as webhookId', 'events'])
        .where('project_id', '=', projectId),
    ),
    insert: prepareQuery((delivery: Bound<NewDelivery>) =>
      queries.insertInto('webhook_deliveries').values({
        id: delivery.id,
        webhook_id: delivery.webhookId,
        event_number: delivery.eventNumber,
        type: delivery.type,
        sequence: delivery.sequence,
        body: delivery.body,
        state: 'waiting',
        is_next: ({ exists, lit, case: when }) =>
          when()
            .when(
              exists(
                deliveries
                  .select('number')
                  .where('webhook_id', '=', delivery.webhookId)
                  .where('sequence', '=', delivery.sequence)
                  .where('due_at_ms', 'is not', null),
              ),
            )
            .then(lit(0))
            .else(lit(1))
            .end(),
        due_at_ms: now(delivery.atMs),
        attempts: 0,
        resent_from: delivery.resentFrom,
        created_at_ms: delivery.atMs,
      }),
    ),
    waiting: prepareQuery(({ webhookId }: Bound<{ webhookId: string }>) =>
      queries
        .selectFrom('webhook_delivery_totals')
        .select(({ fn }) => fn.sum<number | null>('total').as('total'))
        .where('webhook_id', '=', webhookId)
        .where('state', 'in', ['waiting', 'retrying']),
    ),
    oldest: prepareQuery(({ webhookId }: Bound<{ webhookId: string }>) => {
      const oldestOf = (state: 'waiting' | 'retrying') =>
        queries
          .selectFrom(
            deliveries
              .select('number')
              .where('webhook_id', '=', webhookId)
              .where('state', '=', state)
              .orderBy('number')
              .limit(1)
              .as('oldest'),
          )
          .select('number');
      return queries
        .selectFrom(oldestOf('waiting').unionAll(oldestOf('retrying')).as('oldest'))
        .select(({ fn }) => fn.min<number | null>('number').as('number'));
    }),
    original: prepareQuery(({ deliveryId, webhookId }: Bound<{ deliveryId: string; webhookId: string }>) =>
      deliveries
        .select(['event_number as eventNumber', 'type', 'body'])
        .where('id', '=', deliveryId)
        .where('webhook_id', '=', webhookId),
    ),
  };
}

function dueStatements(database: Database) {
  const { queries } = database;
  const now = nowBy(database);
  const deliveries = queries.selectFrom('webhook_deliveries');
  return {
    due: prepareQuery(
      ({ webhookId, nowMs, limit }: Bound<{ webhookId: string; nowMs: number; limit: number }>) =>
        queries
          .selectFrom('webhook_deliveries as d')
          .innerJoin('webhooks as w', 'w.id', 'd.webhook_id')
          .select(['d.number', 'd.id as deliveryId', 'd.webhook_id as webhookId', 'w.url'])
          .select(['w.signature_secret as signatureSecret', 'd.event_number as eventNumber', 'd.body'])
          .select(['d.attempts', 'd.first_attempt_at_ms as firstAttemptAtMs', 'w.project_id as projectId'])
          .where('d.webhook_id', '=', webhookId)
          .where('d.is_next', '=', isNext)
          .where('d.due_at_ms', '<=', nowMs)
          .orderBy('d.due_at_ms')
          .orderBy('d.number')
          .limit(limit),
    ),
    nextDue: prepareQuery(({ webhookId, nowMs }: Bound<{ webhookId: string; nowMs: number }>) =>
      deliveries
        .select('due_at_ms as dueAtMs')
        .where('webhook_id', '=', webhookId)
        .where('is_next', '=', isNext)
        .where('due_at_ms', '>', nowMs)
        .where(({ exists }) =>
          exists(queries.selectFrom('webhooks').select('id').where('id', '=', webhookId)),
        )
        .orderBy('due_at_ms')
        .limit(1),
    ),
    expedite: prepareQuery(
      ({ webhookId, nowMs, limit }: Bound<{ webhookId: string; nowMs: number; limit: number }>) =>
        queries
          .updateTable('webhook_deliveries')
          .set({ due_at_ms: now(nowMs) })
          .where(
            'number',
            'in',
            deliveries
              .select('number')
              .where('webhook_id', '=', webhookId)
              .where('is_next', '=', isNext)
              .where('due_at_ms', '>', now(nowMs))
              .orderBy('due_at_ms')
              .limit(limit),
          )
          .where('is_next', '=', isNext),
    ),
  };
}

function outcomeStatements(database: Database) {
  const { queries } = database;
  return {
    // Finds it by id, because the number of a removed delivery may have been reused, and by attempts, because
    // another server may have taken over and made this attempt, too.
    finish: prepareQuery(
      ({ number, id, attempts, state }: Bound<FinishedDelivery & { state: 'succeeded' | 'failed' }>) =>
        queries
          .updateTable('webhook_deliveries')
          .set(({ eb, lit }) => ({
            state,
            is_next: lit(0),
            due_at_ms: null,
            attempts: eb('attempts', '+', 1),
          }))
          .where('number', '=', number)
          .where('id', '=', id)
          .where('attempts', '=', attempts)
          .where('due_at_ms', 'is not', null),
    ),
    retry: prepareQuery(
      ({
        number,
        id,
        attempts,
        atMs,
        triedAtMs,
      }: Bound<FinishedDelivery & { atMs: number; triedAtMs: number }>) =>
        queries
          .updateTable('webhook_deliveries')
          .set(({ eb, fn }) => ({
            state: 'retrying',
            due_at_ms: atMs,
            attempts: eb('attempts', '+', 1),
            first_attempt_at_ms: fn.coalesce('first_attempt_at_ms', triedAtMs),
          }))
          .where('number', '=', number)
          .where('id', '=', id)
          .where('attempts', '=', attempts)
          .where('due_at_ms', 'is not', null),
    ),
    giveUp: prepareQuery(({ number }: Bound<{ number: number }>) =>
      queries
        .updateTable('webhook_deliveries')
        .set({ state: 'failed', is_next: 0, due_at_ms: null })
        .where('number', '=', number),
    ),
    insertAttempt: prepareQuery((attempt: Bound<AttemptParameters>) =>
      queries.insertInto('webhook_attempts').values({
        delivery_number: attempt.number,
        attempt: attempt.attempt,
        attempted_at_ms: attempt.attemptedAtMs,
        duration_ms: attempt.durationMs,
        status_code: attempt.statusCode,
        error: attempt.error,
        error_code: attempt.errorCode,
        response: attempt.response,
      }),
    ),
    removeAttempts: prepareQuery(({ number, last }: Bound<{ number: number; last: number }>) =>
      queries
        .deleteFrom('webhook_attempts')
        .where('delivery_number', '=', number)
        .where('attempt', '<=', last),
    ),
  };
}
