import type { Database } from '../../store/database.ts';
import { listTotal } from '../../store/list-total.ts';
import type { WatermarkRow } from '../../store/tables.ts';
import type { Watermark } from './watermark.ts';

/** Watermarks in the database. */
export class WatermarksStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** A watermark of a project. */
  find(projectId: string, watermarkId: string): Watermark | undefined {
    const row = this.#database.first(
      this.#database.queries
        .selectFrom('watermarks')
        .selectAll()
        .where('id', '=', watermarkId)
        .where('project_id', '=', projectId),
    );
    return row === undefined ? undefined : watermarkFrom(row);
  }

  /** One page of a project's watermarks by their creation, and how many there are on all pages. */
  list(
    projectId: string,
    direction: 'asc' | 'desc',
    page: { currentPage: number; pageSize: number },
  ): { watermarks: Watermark[]; total: number } {
    const { queries } = this.#database;
    const total = listTotal(this.#database, projectId, 'watermarks');
    const offset = (page.currentPage - 1) * page.pageSize;
    if (offset >= total) return { watermarks: [], total };
    // Skipping rows is cheap only while it stays in the index, so the page is found first and read afterwards.
    const ids = queries
      .selectFrom('watermarks')
      .select('id')
      .where('project_id', '=', projectId)
      .orderBy('created_at_ms', direction)
      .orderBy('id', direction)
      .limit(page.pageSize)
      .offset(offset);
    const rows = this.#database.all(
      queries
        .selectFrom('watermarks')
        .selectAll()
        .where('id', 'in', ids)
        .orderBy('created_at_ms', direction)
        .orderBy('id', direction),
    );
    return { watermarks: rows.map(watermarkFrom), total };
  }

  /** Adds a watermark. */
  add(watermark: Watermark): void {
    this.#database.run(
      this.#database.queries.insertInto('watermarks').values({
        id: watermark.watermarkId,
        project_id: watermark.projectId,
        media_type: watermark.mediaType,
        width: watermark.width,
        height: watermark.height,
        created_at_ms: watermark.createdAtMs,
      }),
    );
  }

  /** Removes a watermark of a project. */
  remove(projectId: string, watermarkId: string): void {
    this.#database.run(
      this.#database.queries
        .deleteFrom('watermarks')
        .where('id', '=', watermarkId)
        .where('project_id', '=', projectId),
    );
  }
}

function watermarkFrom(row: WatermarkRow): Watermark {
  return {
    watermarkId: row.id,
    projectId: row.project_id,
    mediaType: row.media_type,
    width: row.width,
    height: row.height,
    createdAtMs: row.created_at_ms,
  };
}
