import type { Database } from '../../store/database.ts';
import { removeInBatches } from '../../store/remove-in-batches.ts';
import type { BroadcastRow } from '../../store/tables.ts';

/** The history of broadcasts, as their owner reads it. */
export class BroadcastHistoryStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * One page of a live stream's broadcasts by their start, and how many there are on all pages. A stream keeps only so many, so that
   * counting them is quick.
   */
  list(
    projectId: string,
    liveStreamId: string,
    direction: 'asc' | 'desc',
    page: { currentPage: number; pageSize: number },
  ): { broadcasts: BroadcastRow[]; total: number } {
    const matching = this.#database.queries
      .selectFrom('broadcasts')
      .where('live_stream_id', '=', liveStreamId)
      .where('project_id', '=', projectId);
    const counted = this.#database.first(
      matching.select(expression => expression.fn.countAll<number>().as('total')),
    );
    const broadcasts = this.#database.all(
      matching
        .selectAll()
        .orderBy('started_at_ms', direction)
        .orderBy('id', direction)
        .limit(page.pageSize)
        .offset((page.currentPage - 1) * page.pageSize),
    );
    return { broadcasts, total: counted?.total ?? 0 };
  }

  /** Forgets those that ended before `atMs`; how many that were. */
  removeBefore(atMs: number): Promise<number> {
    const { queries } = this.#database;
    return removeInBatches(atMost => {
      const some = queries
        .selectFrom('broadcasts')
        .select('id')
        .where('ended_at_ms', '<', atMs)
        .limit(atMost);
      return this.#database.run(queries.deleteFrom('broadcasts').where('id', 'in', some));
    });
  }
}
