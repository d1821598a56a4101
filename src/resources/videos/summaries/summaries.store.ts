import { yieldToEventLoop } from '../../../shared/scheduling/yield-to-event-loop.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { listTotal } from '../../../store/list-total.ts';
import type { Row } from '../../../store/tables.ts';
import type { Summary, SummaryAttribute, SummaryFilter, SummaryStatus } from './summary.ts';

const sortColumns = { createdAt: 'created_at_ms', updatedAt: 'updated_at_ms', videoId: 'video_id' } as const;
const storedStatuses = ['missing', 'completed'] as const;
type StoredStatus = (typeof storedStatuses)[number];

function isStored(status: SummaryStatus): status is StoredStatus {
  return status === 'missing' || status === 'completed';
}

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
    const { sourceStatus } = filter;
    if (filter.videoId !== undefined) {
      const summary = await this.findOfVideo(projectId, filter.videoId);
      const found = summary !== undefined && matches(summary, filter) ? [summary] : [];
      return { summaries: offset === 0 ? found : [], total: found.length };
    }
    if (filter.origin !== undefined || (sourceStatus !== undefined && sourceStatus !== 'completed')) {
      return this.#listFiltered(projectId, filter, sort, { offset, limit: page.pageSize });
    }
    const wantedStatuses = sourceStatus === undefined ? storedStatuses : ([sourceStatus] as const);
    const total = await this.#total(projectId, wantedStatuses);
    if (offset >= total) return { summaries: [], total };
    const [only, other] = wantedStatuses;
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
          source_status: isStored(summary.sourceStatus) ? summary.sourceStatus : 'missing',
          generation: isStored(summary.sourceStatus) ? null : summary.sourceStatus,
          origin: summary.origin,
          attributes: summary.attributes === undefined ? null : JSON.stringify(summary.attributes),
          abstract: summary.abstract ?? null,
          takeaways: summary.takeaways === undefined ? null : JSON.stringify(summary.takeaways),
          created_at_ms: summary.createdAtMs,
          updated_at_ms: summary.updatedAtMs,
        })
        .onConflict(conflict => conflict.column('video_id').doNothing()),
    );
    return count > 0;
  }

  /** Changes the given fields, and marks the text as complete. Returns undefined when it is removed, or being generated. */
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
          generation: null,
          abstract,
          takeaways: takeaways === undefined ? undefined : JSON.stringify(takeaways),
          updated_at_ms: atMs,
        })
        .where('id', '=', summaryId)
        .where('project_id', '=', projectId)
        .where(({ eb, or }) => or([eb('generation', 'is', null), eb('generation', '!=', 'waiting')]))
        .returningAll(),
    );
    return row === undefined ? undefined : summaryFrom(row);
  }

  async remove({ projectId, summaryId }: Summary, transaction: Transaction): Promise<void> {
    await transaction.run(
      transaction.queries
        .deleteFrom('summaries')
        .where('id', '=', summaryId)
        .where('project_id', '=', projectId),
    );
  }

  /** Lists by filters that are seldom used: the database counts. */
  async #listFiltered(
    projectId: string,
    { origin, sourceStatus }: SummaryFilter,
    { field, direction }: SummarySort,
    { offset, limit }: { readonly offset: number; readonly limit: number },
  ): Promise<{ summaries: Summary[]; total: number }> {
    let query = this.#visible(projectId);
    if (origin !== undefined) query = query.where('origin', '=', origin);
    if (sourceStatus !== undefined && isStored(sourceStatus)) {
      query = query.where('source_status', '=', sourceStatus).where('generation', 'is', null);
    } else if (sourceStatus !== undefined) query = query.where('generation', '=', sourceStatus);
    const count = await this.#database.first(query.select(({ fn }) => fn.countAll<number>().as('total')));
    const page = query.selectAll().orderBy(sortColumns[field], direction).orderBy('id', direction);
    const rows = await this.#database.all(page.limit(limit).offset(offset));
    return { summaries: rows.map(summaryFrom), total: count?.total ?? 0 };
  }

  /** Returns a position, and the number left to skip after it. */
  async #skip(
    projectId: string,
    status: StoredStatus | undefined,
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
    status: StoredStatus | undefined,
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

  #total(projectId: string, wantedStatuses: readonly StoredStatus[]): Promise<number> {
    return listTotal(this.#database, projectId, ...wantedStatuses.map(status => `summaries-${status}`));
  }
}

function matches({ origin, sourceStatus }: Summary, filter: SummaryFilter): boolean {
  return (
    (filter.origin === undefined || filter.origin === origin) &&
    (filter.sourceStatus === undefined || filter.sourceStatus === sourceStatus)
  );
}

function summaryFrom(row: Row<'summaries'>): Summary {
  return {
    summaryId: row.id,
    projectId: row.project_id,
    videoId: row.video_id,
    origin: row.origin,
    sourceStatus: row.generation ?? row.source_status,
    attributes: row.attributes === null ? undefined : (JSON.parse(row.attributes) as SummaryAttribute[]),
    abstract: row.abstract ?? undefined,
    takeaways: row.takeaways === null ? undefined : (JSON.parse(row.takeaways) as string[]),
    failure: row.generation === null ? undefined : (row.failure ?? undefined),
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  };
}
