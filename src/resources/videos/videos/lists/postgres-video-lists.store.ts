import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../../store/database.ts';
import { rawQuery } from '../../../../store/raw-query.ts';
import { type SelectedVideoRow, selectedColumns } from '../video-row.ts';
import { columnConditionsOf, type FoldedFilter, foldFilter, type VideoFilter } from './video-filter.ts';
import type { ListPage, ListScope, VideoListPage, VideoLists, VideoSortField } from './video-lists.ts';

const sortColumns: Readonly<Record<VideoSortField, string>> = {
  title: 'title_folded',
  createdAt: 'created_at_ms',
  publishedAt: 'published_at_ms',
  updatedAt: 'updated_at_ms',
  plays: 'plays',
};

/** Counts and reads a page in one statement, which sees one moment. Trigram indexes find texts. */
export class PostgresVideoLists implements VideoLists {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The indexes follow the table. */
  async noteWrite(): Promise<void> {}

  async list(scope: ListScope, filter: VideoFilter, page: ListPage): Promise<VideoListPage> {
    const matching = sql`FROM videos v WHERE ${sql.join(conditionsOf(scope, foldFilter(filter)), sql` AND `)}`;
    const column = sortColumns[page.sort.field];
    const order = sql.raw(`${column} ${page.sort.direction}, id ${page.sort.direction}`);
    const found = await this.#database.all(
      rawQuery(
        this.#database.queries,
        sql<{ total: number } & (SelectedVideoRow | { id: null })>`
          SELECT * FROM (SELECT count(*) AS total ${matching}) counted
          LEFT JOIN (SELECT ${sql.raw(selectedColumns)}, v.title_folded, v.plays ${matching} ORDER BY ${order}
            LIMIT ${page.pageSize} OFFSET ${(page.currentPage - 1) * page.pageSize}) listed ON true
          ORDER BY ${order}`,
      ),
    );
    const rows = found.filter((row): row is typeof row & SelectedVideoRow => row.id !== null);
    return { rows, total: found[0]?.total ?? 0 };
  }
}

function conditionsOf({ projectId, isDiscarded }: ListScope, filter: FoldedFilter): RawBuilder<unknown>[] {
  const { title, description, tags, metadata, liveStreamId } = filter;
  const ofVideo = (table: string) =>
    sql.raw(`FROM ${table} t WHERE t.project_id = v.project_id AND t.is_discarded = v.is_discarded
      AND t.video_number = v.number`);
  return [
    sql`v.project_id = ${projectId} AND v.is_discarded = ${Number(isDiscarded)}`,
    ...(liveStreamId === undefined ? [] : [sql`v.live_stream_id = ${liveStreamId}`]),
    ...columnConditionsOf(filter).map(([condition, value]) =>
      value === undefined ? sql.raw(condition) : sql`${sql.raw(condition)} ${value}`,
    ),
    ...(title === undefined ? [] : [sql`v.title_folded LIKE ${patternOf(title)}`]),
    ...tags.map(tag => sql`EXISTS (SELECT 1 ${ofVideo('video_tags')} AND t.tag = ${tag})`),
    ...metadata.map(
      ([key, value]) =>
        sql`EXISTS (SELECT 1 ${ofVideo('video_metadata')} AND t.key = ${key} AND t.value = ${value})`,
    ),
    ...(description === undefined ? [] : [sql`v.description_folded LIKE ${patternOf(description)}`]),
  ];
}

function patternOf(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
}
