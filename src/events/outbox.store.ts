import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import type { Database } from '../store/database.ts';
import { removeInBatches } from '../store/remove-in-batches.ts';
import { WebhookQueue } from './webhooks/webhook-queue.store.ts';

/** Something that happened to a resource. */
export interface NewEvent {
  readonly projectId: string;
  /** A name of the event catalogue, such as `video.encoding.quality.completed`. */
  readonly type: string;
  /** The resource; events of one subject stay in their order. */
  readonly subjectId: string;
  /** What is told of it beside `type` and `emittedAt`. */
  readonly payload: Readonly<Record<string, unknown>>;
}

/** An event as it was written down. */
export interface StoredEvent extends NewEvent {
  /** Of this server; later events have higher ones. */
  readonly id: number;
  /** Of its project, from 1; what is shown outside. */
  readonly number: number;
  readonly createdAtMs: number;
}

interface EventColumns {
  id: number;
  project_id: string;
  number: number;
  type: string;
  subject_id: string;
  payload: string;
  created_at_ms: number;
}

const columns = 'id, project_id, number, type, subject_id, payload, created_at_ms';

/**
 * Where events are written, in the transaction that makes them happen, so that none is lost and none is told in vain. One for a
 * server: whoever passes events on is woken by it.
 */
export class Outbox {
  /** Where events wait for the webhooks that subscribe to them. */
  readonly webhooks: WebhookQueue;
  readonly #database: Database;
  readonly #log: Logger;
  readonly #count;
  readonly #insert;
  readonly #after;
  readonly #ofProject;
  readonly #listeners = new Set<() => void>();
  #isTelling = false;

  constructor(database: Database, log: Logger) {
    this.webhooks = new WebhookQueue(database);
    this.#database = database;
    this.#log = log;
    this.#count = database.sqlite.prepare<[string], { last: number }>(
      `INSERT INTO event_counters (project_id, last) VALUES (?, 1)
        ON CONFLICT DO UPDATE SET last = last + 1 RETURNING last`,
    );
    this.#insert = database.sqlite.prepare<[string, number, string, string, string, number]>(
      'INSERT INTO events (project_id, number, type, subject_id, payload, created_at_ms) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#after = database.sqlite.prepare<[number, number], EventColumns>(
      `SELECT ${columns} FROM events WHERE id > ? ORDER BY id LIMIT ?`,
    );
    this.#ofProject = database.sqlite.prepare<[string, number, number], EventColumns>(
      `SELECT ${columns} FROM events WHERE project_id = ? AND number > ? ORDER BY number LIMIT ?`,
    );
  }

  /** Writes an event down. To be called in the transaction that makes it happen. */
  append({ projectId, type, subjectId, payload }: NewEvent, atMs: number): void {
    this.#database.transaction(() => {
      const { last } = this.#count.get(projectId)!;
      this.#insert.run(projectId, last, type, subjectId, JSON.stringify(payload), atMs);
      this.webhooks.fanOut({ projectId, number: last, type, subjectId, payload, createdAtMs: atMs });
    });
    this.#tellSoon();
  }

  /** Writes an event of a live stream down; `told` beside its id. As {@link append}. */
  appendLiveStreamEvent(
    { projectId, liveStreamId }: { readonly projectId: string; readonly liveStreamId: string },
    type: string,
    told: NewEvent['payload'],
    atMs: number,
  ): void {
    this.append({ projectId, type, subjectId: liveStreamId, payload: { liveStreamId, ...told } }, atMs);
  }

  /**
   * Calls `listener` soon after events were written, once for all of a moment. It may find none, when their transaction failed.
   *
   * @returns ends that
   */
  onAppended(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** The events of all projects past one of them, oldest first. */
  listAfter(id: number, countAtMost: number): StoredEvent[] {
    return this.#after.all(id, countAtMost).map(eventFrom);
  }

  /** The events of a project past one of them, oldest first. */
  listOfProject(projectId: string, afterNumber: number, countAtMost: number): StoredEvent[] {
    return this.#ofProject.all(projectId, afterNumber, countAtMost).map(eventFrom);
  }

  /** The number of a project's newest event, which may have been forgotten; 0 when there was none. */
  lastNumber(projectId: string): number {
    const row = this.#database.first(
      this.#database.queries.selectFrom('event_counters').select('last').where('project_id', '=', projectId),
    );
    return row?.last ?? 0;
  }

  /** Forgets what is older than `atMs`; how many events that were. */
  removeBefore(atMs: number): Promise<number> {
    const { queries } = this.#database;
    return removeInBatches(atMost => {
      const some = queries.selectFrom('events').select('id').where('created_at_ms', '<', atMs).limit(atMost);
      return this.#database.run(queries.deleteFrom('events').where('id', 'in', some));
    });
  }

  /** A transaction has no `await` in it, so it is over when the next turn comes. */
  #tellSoon(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    setImmediate(() => {
      this.#isTelling = false;
      for (const listener of [...this.#listeners]) {
        try {
          listener();
        } catch (error) {
          this.#log.error('event-listener-failed', { message: messageOf(error), error });
        }
      }
    });
  }
}

function eventFrom(row: EventColumns): StoredEvent {
  return {
    id: row.id,
    projectId: row.project_id,
    number: row.number,
    type: row.type,
    subjectId: row.subject_id,
    payload: JSON.parse(row.payload) as Record<string, unknown>,
    createdAtMs: row.created_at_ms,
  };
}
