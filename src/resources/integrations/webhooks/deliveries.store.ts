import type { ListResult, PageRequest } from '../../../shared/list-page.ts';
import { yieldToEventLoop } from '../../../shared/scheduling/yield-to-event-loop.ts';
import type { Database } from '../../../store/database.ts';
import type { Row } from '../../../store/tables.ts';

export const deliveryStatuses = ['waiting', 'retrying', 'succeeded', 'failed'] as const;

type DeliveryStatus = (typeof deliveryStatuses)[number];

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

export interface ListedDelivery extends Delivery {
  readonly lastAttempt: Omit<Row<'webhook_attempts'>, 'delivery_number' | 'attempt' | 'response'> | undefined;
}

export interface DeliveryFilter {
  readonly status?: DeliveryStatus | undefined;
  readonly type?: string | undefined;
}

/** Index entries that are skipped in a millisecond or two. */
const rowsPerStep = 5_000;

export class DeliveriesStore {
  readonly #database: Database;
  readonly #rowsPerStep: number;

  constructor(database: Database, options: { rowsPerStep?: number } = {}) {
    this.#database = database;
    this.#rowsPerStep = options.rowsPerStep ?? rowsPerStep;
  }

  async find(webhookId: string, deliveryId: string): Promise<Delivery | undefined> {
    const row = await this.#database.first(
      this.#database.queries
        .selectFrom('webhook_deliveries')
        .selectAll()
        .where('id', '=', deliveryId)
        .where('webhook_id', '=', webhookId),
    );
    return row === undefined ? undefined : deliveryFrom(row);
  }

  async list(
    webhookId: string,
    direction: 'asc' | 'desc',
    query: DeliveryFilter & PageRequest,
  ): Promise<ListResult<ListedDelivery>> {
    const { queries } = this.#database;
    const { status, type, currentPage, pageSize } = query;
    let totals = queries
      .selectFrom('webhook_delivery_totals')
      .select(({ fn }) => fn.sum<number | null>('total').as('total'))
      .where('webhook_id', '=', webhookId);
    if (status !== undefined) totals = totals.where('state', '=', status);
    if (type !== undefined) totals = totals.where('type', '=', type);
    const total = (await this.#database.first(totals))?.total ?? 0;
    const before = (currentPage - 1) * pageSize;
    if (before >= total) return { items: [], total };
    const wanted = Math.min(pageSize, total - before);
    const numbers = await this.#findPageNumbers(webhookId, direction, query, before, wanted);
    const rows = await this.#database.all(
      queries
        .selectFrom('webhook_deliveries as delivery')
        .leftJoin('webhook_attempts as newest', join =>
          join
            .onRef('newest.delivery_number', '=', 'delivery.number')
            .onRef('newest.attempt', '=', 'delivery.attempts'),
        )
        .selectAll('delivery')
        .select(['attempted_at_ms', 'duration_ms', 'status_code', 'error', 'error_code'])
        .where('number', 'in', numbers)
        .orderBy('number', direction),
    );
    return { items: rows.map(listedFrom), total };
  }

  /** Skips earlier rows in the index only, and yields to the event loop on the way. */
  async #findPageNumbers(
    webhookId: string,
    direction: 'asc' | 'desc',
    { status, type }: DeliveryFilter,
    before: number,
    wanted: number,
  ): Promise<number[]> {
    const { queries } = this.#database;
    const numbers: number[] = [];
    let toSkip = before;
    let length = 0;
    let lastNumber: number | undefined;
    for (;;) {
      // A rare type may be missing from many rows, so each step is longer than the one before.
      length = Math.min(this.#rowsPerStep, Math.max(toSkip + wanted, 2 * length));
      let some = queries
        .selectFrom('webhook_deliveries')
        .select(['number', 'type'])
        .where('webhook_id', '=', webhookId)
        .orderBy('number', direction)
        .limit(length);
      if (status !== undefined) some = some.where('state', '=', status);
      if (lastNumber !== undefined) some = some.where('number', direction === 'asc' ? '>' : '<', lastNumber);
      const step = (await this.#database.first(
        queries.selectFrom(some.as('some')).select(({ fn, ref }) => {
          const all = fn.countAll<number>();
          const number = ref('number');
          return [
            all.as('count'),
            (type === undefined ? all : all.filterWhere('type', '=', type)).as('matching'),
            fn.agg<number | null>(direction === 'asc' ? 'max' : 'min', [number]).as('last'),
          ];
        }),
      ))!;
      if (toSkip < step.matching) {
        let page = queries.selectFrom(some.as('some')).select('number').orderBy('number', direction);
        if (type !== undefined) page = page.where('type', '=', type);
        const found = await this.#database.all(page.limit(wanted - numbers.length).offset(toSkip));
        numbers.push(...found.map(({ number }) => number));
      }
      if (numbers.length >= wanted || step.count < length || step.last === null) return numbers;
      toSkip = Math.max(0, toSkip - step.matching);
      lastNumber = step.last;
      await yieldToEventLoop();
    }
  }

  attempts(deliveryNumber: number): Promise<Row<'webhook_attempts'>[]> {
    return this.#database.all(
      this.#database.queries
        .selectFrom('webhook_attempts')
        .selectAll()
        .where('delivery_number', '=', deliveryNumber)
        .orderBy('attempt'),
    );
  }
}

function listedFrom(
  row: Row<'webhook_deliveries'> & {
    [Key in keyof NonNullable<ListedDelivery['lastAttempt']>]: Row<'webhook_attempts'>[Key] | null;
  },
): ListedDelivery {
  const { attempted_at_ms, duration_ms, status_code, error, error_code } = row;
  return {
    ...deliveryFrom(row),
    lastAttempt:
      attempted_at_ms === null || duration_ms === null
        ? undefined
        : { attempted_at_ms, duration_ms, status_code, error, error_code },
  };
}

function deliveryFrom(row: Row<'webhook_deliveries'>): Delivery {
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
