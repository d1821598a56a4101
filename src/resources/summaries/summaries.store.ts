import type { Selectable } from 'kysely';
import type { Database } from '../../store/database.ts';
import type { SummaryRow } from '../../store/tables.ts';
import type { Summary, SummaryFilter, SummaryStatus } from './summary.ts';

const sortColumns = { createdAt: 'created_at_ms', updatedAt: 'updated_at_ms', videoId: 'video_id' } as const;
const statuses: readonly SummaryStatus[] = ['missing', 'completed'];

/** Summaries in the database. Those of discarded videos are out of sight until these are restored. */
export class SummariesStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** A summary of a project. */
  find(projectId: string, summaryId: string): Summary | undefined {
    const row = this.#database.first(this.#inSight(projectId).selectAll().where('id', '=', summaryId));
    return row === undefined ? undefined : summaryFrom(row);
  }

  /** The summary of a video of a project. */
  findOfVideo(projectId: string, videoId: string): Summary | undefined {
    const row = this.#database.first(this.#inSight(projectId).selectAll().where('video_id', '=', videoId));
    return row === undefined ? undefined : summaryFrom(row);
  }

  /** One page of a project's summaries, and how many there are on all pages. */
  list(
    projectId: string,
    filter: SummaryFilter,
    sort: { field: keyof typeof sortColumns; direction: 'asc' | 'desc' },
    page: { currentPage: number; pageSize: number },
  ): { summaries: Summary[]; total: number } {
    const offset = (page.currentPage - 1) * page.pageSize;
    const asked = statuses.filter(
      status => filter.sourceStatus === undefined || filter.sourceStatus === status,
    );
    if (filter.origin === 'auto' || asked.length === 0) return { summaries: [], total: 0 };
    if (filter.videoId !== undefined) {
      const summary = this.findOfVideo(projectId, filter.videoId);
      const found = summary !== undefined && asked.includes(summary.sourceStatus) ? [summary] : [];
      return { summaries: offset === 0 ? found : [], total: found.length };
    }
    const total = this.#total(projectId, asked);
    if (offset >= total) return { summaries: [], total };
    const column = sortColumns[sort.field];
    const [only, other] = asked;
    const matching = this.#inSight(projectId).$if(only !== undefined && other === undefined, query =>
      query.where('source_status', '=', only!),
    );
    // Skipping rows is cheap only while it stays in the index, so the page is found first and read afterwards.
    const ids = matching
      .select('id')
      .orderBy(column, sort.direction)
      .orderBy('id', sort.direction)
      .limit(page.pageSize)
      .offset(offset);
    const rows = this.#database.all(
      this.#database.queries
        .selectFrom('summaries')
        .selectAll()
        .where('id', 'in', ids)
        .orderBy(column, sort.direction)
        .orderBy('id', sort.direction),
    );
    return { summaries: rows.map(summaryFrom), total };
  }

  /** Adds a summary of a video that has none. */
  add(summary: Summary): void {
    this.#database.run(
      this.#database.queries.insertInto('summaries').values({
        id: summary.summaryId,
        project_id: summary.projectId,
        video_id: summary.videoId,
        source_status: summary.sourceStatus,
        abstract: summary.abstract ?? null,
        takeaways: summary.takeaways === undefined ? null : JSON.stringify(summary.takeaways),
        created_at_ms: summary.createdAtMs,
        updated_at_ms: summary.updatedAtMs,
      }),
    );
  }

  /** Writes what is given of a summary's text, which is then complete. */
  write(
    { projectId, summaryId }: Summary,
    text: { abstract?: string | undefined; takeaways?: readonly string[] | undefined },
    atMs: number,
  ): void {
    const { abstract, takeaways } = text;
    this.#database.run(
      this.#database.queries
        .updateTable('summaries')
        .set({
          source_status: 'completed',
          ...(abstract === undefined ? {} : { abstract }),
          ...(takeaways === undefined ? {} : { takeaways: JSON.stringify(takeaways) }),
          updated_at_ms: atMs,
        })
        .where('id', '=', summaryId)
        .where('project_id', '=', projectId),
    );
  }

  /** Removes a summary. */
  remove({ projectId, summaryId }: Summary): void {
    this.#database.run(
      this.#database.queries
        .deleteFrom('summaries')
        .where('id', '=', summaryId)
        .where('project_id', '=', projectId),
    );
  }

  #inSight(projectId: string) {
    return this.#database.queries
      .selectFrom('summaries')
      .where('project_id', '=', projectId)
      .where('is_discarded', '=', 0);
  }

  #total(projectId: string, asked: readonly SummaryStatus[]): number {
    const rows = this.#database.all(
      this.#database.queries
        .selectFrom('list_totals')
        .select('total')
        .where('project_id', '=', projectId)
        .where(
          'list',
          'in',
          asked.map(status => `summaries-${status}`),
        ),
    );
    return rows.reduce((sum, { total }) => sum + total, 0);
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
