import type { Selectable } from 'kysely';
import { yieldToEventLoop } from '../../shared/scheduling/yield-to-event-loop.ts';
import type { Connection } from '../../store/connection.ts';
import type { Database } from '../../store/database.ts';
import { listTotal } from '../../store/list-total.ts';
import type { SummaryRow } from '../../store/media-tables.ts';
import type { Summary, SummaryFilter, SummaryStatus } from './summary.ts';

const sortColumns = { createdAt: 'created_at_ms', updatedAt: 'updated_at_ms', videoId: 'video_id' } as const;
const statuses: readonly SummaryStatus[] = ['missing', 'completed'];
/** Skipping so many index rows takes less than a millisecond. */
const rowsPerStep = 10_000;

type SummaryPosition = readonly [value: string | number, id: string];

interface SummarySort {
  readonly field: keyof typeof sortColumns;
  readonly direction: 'asc' | 'desc';
}

/** Hides summaries of videos in the trash. */
export class SummariesStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async find(projectId: string, summaryId: string): Promise<Summary | undefined> {
    const row = await this.#database.first(this.#visible(projectId).selectAll().where('id', '=', summaryId));
    return row === undefined ? undefined : summaryFrom(row);
  }

  async findOfVideo(projectId: string, videoId: string): Promise<Summary | undefined> {
    const row = await this.#database.first(
      this.#visible(projectId).selectAll().where('video_id', '=', videoId),
    );
    return row === undefined ? undefined : summaryFrom(row);
  }

  async list(
    projectId: string,
    filter: SummaryFilter,
    sort: SummarySort,
    page: { currentPage: number; pageSize: number },
  ): Promise<{ summaries: Summary[]; total: number }> {
    const offset = (page.currentPage - 1) * page.pageSize;
    const asked = statuses.filter(
      status => filter.sourceStatus === undefined || filter.sourceStatus === status,
    );
    if (filter.origin === 'auto' || asked.length === 0) return { summaries: [], total: 0 };
    if (filter.videoId !== undefined) {
      const summary = await this.findOfVideo(projectId, filter.videoId);
      const found = summary !== undefined && asked.includes(summary.sourceStatus) ? [summary] : [];
      return { summaries: offset === 0 ? found : [], total: found.length };
    }
    const total = await this.#total(projectId, asked);
    if (offset >= total) return { summaries: [], total };
    const [only, other] = asked;
    const status = other === undefined ? only : undefined;
    const { after, left } = await this.#skip(projectId, status, sort, offset);
    // Skipping rows is cheap only in the index, so the ids of the page are found first.
    const ids = this.#ordered(projectId, status, sort, after).select('id').limit(page.pageSize).offset(left);
    const column = sortColumns[sort.field];
    const rows = await this.#database.all(
      this.#database.queries
        .selectFrom('summaries')
        .selectAll()
        .where('id', 'in', ids)
        .orderBy(column, sort.direction)
        .orderBy('id', sort.direction),
    );
    return { summaries: rows.map(summaryFrom), total };
  }

  /** Returns false when the video has a summary. */
  async add(summary: Summary, connection: Connection = this.#database): Promise<boolean> {
    const count = await connection.run(
      connection.queries
        .insertInto('summaries')
        .values({
          id: summary.summaryId,
          project_id: summary.projectId,
          video_id: summary.videoId,
          source_status: summary.sourceStatus,
          abstract: summary.abstract ?? null,
          takeaways: summary.takeaways === undefined ? null : JSON.stringify(summary.takeaways),
          created_at_ms: summary.createdAtMs,
          updated_at_ms: summary.updatedAtMs,
        })
        .onConflict(conflict => conflict.column('video_id').doNothing()),
    );
    return count > 0;
  }

  /** Changes the given fields, and marks the text as complete. Returns the result, or undefined when it is removed. */
  async write(
    { projectId, summaryId }: Summary,
    text: { abstract?: string | undefined; takeaways?: readonly string[] | undefined },
    atMs: number,
  ): Promise<Summary | undefined> {
    const { abstract, takeaways } = text;
    const row = await this.#database.first(
      this.#database.queries
        .updateTable('summaries')
        .set({
          source_status: 'completed',
          ...(abstract === undefined ? {} : { abstract }),
          ...(takeaways === undefined ? {} : { takeaways: JSON.stringify(takeaways) }),
          updated_at_ms: atMs,
        })
        .where('id', '=', summaryId)
        .where('project_id', '=', projectId)
        .returningAll(),
    );
    return row === undefined ? undefined : summaryFrom(row);
  }

  async remove({ projectId, summaryId }: Summary): Promise<void> {
    await this.#database.run(
      this.#database.queries
        .deleteFrom('summaries')
        .where('id', '=', summaryId)
        .where('project_id', '=', projectId),
    );
  }

  /** Returns a position, and the number left to skip after it. */
  async #skip(
    projectId: string,
    status: SummaryStatus | undefined,
    sort: SummarySort,
    count: number,
  ): Promise<{ after: SummaryPosition | undefined; left: number }> {
    const column = sortColumns[sort.field];
    let after: SummaryPosition | undefined;
    let left = count;
    for (; left >= rowsPerStep; left -= rowsPerStep) {
      const step = this.#ordered(projectId, status, sort, after)
        .select([column, 'id'])
        .limit(1)
        .offset(rowsPerStep - 1);
      const row = await this.#database.first(step);
      if (row === undefined) break;
      after = [row[column]!, row.id];
      await yieldToEventLoop();
    }
    return { after, left };
  }

  #ordered(
    projectId: string,
    status: SummaryStatus | undefined,
    { field, direction }: SummarySort,
    after: SummaryPosition | undefined,
  ) {
    const column = sortColumns[field];
    let query = this.#visible(projectId).orderBy(column, direction).orderBy('id', direction);
    if (status !== undefined) query = query.where('source_status', '=', status);
    if (after === undefined) return query;
    return query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple(column, 'id'), direction === 'asc' ? '>' : '<', tuple(...after)),
    );
  }

  #visible(projectId: string) {
    return this.#database.queries
      .selectFrom('summaries')
      .where('project_id', '=', projectId)
      .where('is_discarded', '=', 0);
  }

  #total(projectId: string, asked: readonly SummaryStatus[]): Promise<number> {
    return listTotal(this.#database, projectId, ...asked.map(status => `summaries-${status}`));
  }
}

function summaryFrom(row: Selectable<SummaryRow>): Summary {
  return {
    summaryId: row.id,
    projectId: row.project_id,
    videoId: row.video_id,
    sourceStatus: row.source_status,
    abstract: row.abstract ?? undefined,
    takeaways: row.takeaways === null ? undefined : (JSON.parse(row.takeaways) as string[]),
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  };
}
