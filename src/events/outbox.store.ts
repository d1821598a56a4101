import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import type { Connection } from '../store/connection.ts';
import type { Database } from '../store/database.ts';
import { type Bound, prepareQuery } from '../store/prepared-query.ts';
import { removeInBatches } from '../store/remove-in-batches.ts';
import { WebhookQueue } from './webhooks/webhook-queue.store.ts';

export interface NewEvent {
  readonly projectId: string;
  readonly type: string;
  /** Events of one subject stay in order. */
  readonly subjectId: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface StoredEvent extends NewEvent {
  /** Sequence number on this server. */
  readonly id: number;
  /** Sequence number in its project, from 1, as in the API. */
  readonly number: number;
  readonly createdAtMs: number;
}

const eventColumns = [
  'id',
  'project_id as projectId',
  'number',
  'type',
  'subject_id as subjectId',
  'payload',
  'created_at_ms as createdAtMs',
] as const;

/**
 * Stores events in the transaction of their change, so that none is lost and none announces a change that was
 * rolled back. Events of a project become visible in the order of their numbers, on every server.
 */
export class Outbox {
  readonly webhooks: WebhookQueue;
  readonly #database: Database;
  readonly #log: Logger;
  readonly #statements: ReturnType<typeof prepareStatements>;

  constructor(database: Database, log: Logger) {
    this.webhooks = new WebhookQueue(database);
    this.#database = database;
    this.#log = log;
    this.#statements = prepareStatements(database);
  }

  /** @param connection the transaction of the change */
  async append(
    { projectId, type, subjectId, payload }: NewEvent,
    createdAtMs: number,
    connection: Connection = this.#database,
  ): Promise<void> {
    const { nextNumber, insert } = this.#statements;
    await connection.transaction(async transaction => {
      // Locks the project's counter until the commit, so that a reader never sees a number before a smaller one.
      const { last: number } = (await transaction.first(nextNumber({ projectId })))!;
      const event = { projectId, number, type, subjectId, createdAtMs };
      await transaction.run(insert({ ...event, payload: JSON.stringify(payload) }));
      await this.webhooks.fanOut({ ...event, payload }, transaction);
      await this.#database.signals.send('events', projectId, transaction);
    });
  }

  async appendLiveStreamEvent(
    { projectId, liveStreamId }: { readonly projectId: string; readonly liveStreamId: string },
    type: string,
    payload: NewEvent['payload'],
    createdAtMs: number,
    connection?: Connection,
  ): Promise<void> {
    await this.append(
      { projectId, type, subjectId: liveStreamId, payload: { liveStreamId, ...payload } },
      createdAtMs,
      connection,
    );
  }

  /**
   * Calls `listener` with projects that have new events, on this server or another one, and with undefined when any
   * project may have some. @returns removes it
   */
  onAppended(listener: (projectId: string | undefined) => void): () => void {
    return this.#database.signals.listen('events', projectId => {
      try {
        listener(projectId);
      } catch (error) {
        this.#log.error('event-listener-failed', { message: messageOf(error), error });
      }
    });
  }

  /** Oldest first. */
  async listOfProject(projectId: string, afterNumber: number, limit: number): Promise<StoredEvent[]> {
    const rows = await this.#database.all(this.#statements.listOfProject({ projectId, afterNumber, limit }));
    return rows.map(row => ({ ...row, payload: JSON.parse(row.payload) as Record<string, unknown> }));
  }

  /** Counts removed events, too; 0 when there was none. */
  async lastNumber(projectId: string): Promise<number> {
    return (await this.lastNumbers([projectId])).get(projectId) ?? 0;
  }

  /** Returns the last number of each project that had an event. */
  async lastNumbers(projectIds: readonly string[]): Promise<Map<string, number>> {
    const rows = await this.#database.all(
      this.#database.queries
        .selectFrom('event_counters')
        .select(['project_id as projectId', 'last'])
        .where('project_id', 'in', projectIds),
    );
    return new Map(rows.map(({ projectId, last }) => [projectId, last]));
  }

  removeBefore(atMs: number): Promise<number> {
    const { queries } = this.#database;
    return removeInBatches(limit => {
      const batch = queries.selectFrom('events').select('id').where('created_at_ms', '<', atMs).limit(limit);
      return this.#database.run(queries.deleteFrom('events').where('id', 'in', batch));
    });
  }
}

interface EventParameters {
  readonly projectId: string;
  readonly number: number;
  readonly type: string;
  readonly subjectId: string;
  readonly payload: string;
  readonly createdAtMs: number;
}

function prepareStatements(database: Database) {
  const { queries } = database;
  return {
    nextNumber: prepareQuery(({ projectId }: Bound<{ projectId: string }>) =>
      queries
        .insertInto('event_counters')
        .values({ project_id: projectId, last: 1 })
        .onConflict(conflict =>
          conflict
            .column('project_id')
            .doUpdateSet(({ eb }) => ({ last: eb('event_counters.last', '+', 1) })),
        )
        .returning('last'),
    ),
    insert: prepareQuery((event: Bound<EventParameters>) =>
      queries.insertInto('events').values({
        project_id: event.projectId,
        number: event.number,
        type: event.type,
        subject_id: event.subjectId,
        payload: event.payload,
        created_at_ms: event.createdAtMs,
      }),
    ),
    listOfProject: prepareQuery(
      ({ projectId, afterNumber, limit }: Bound<{ projectId: string; afterNumber: number; limit: number }>) =>
        queries
          .selectFrom('events')
          .select(eventColumns)
          .where('project_id', '=', projectId)
          .where('number', '>', afterNumber)
          .orderBy('number')
          .limit(limit),
    ),
  };
}
