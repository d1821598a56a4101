import type { Database } from '../store/database.ts';

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

/** Where events are written, in the transaction that makes them happen, so that none is lost and none is told in vain. */
export class Outbox {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Writes an event down. */
  append(event: NewEvent, atMs: number): void {
    this.#database.run(
      this.#database.queries.insertInto('events').values({
        project_id: event.projectId,
        type: event.type,
        subject_id: event.subjectId,
        payload: JSON.stringify(event.payload),
        created_at_ms: atMs,
      }),
    );
  }

  /** Forgets what is older than `atMs`; how many events that were. */
  removeBefore(atMs: number): number {
    return this.#database.run(this.#database.queries.deleteFrom('events').where('created_at_ms', '<', atMs));
  }
}
