import type { ListResult, PageRequest, Sort } from '../../../shared/list-page.ts';
import type { Database } from '../../../store/database.ts';
import { listTotal } from '../../../store/list-total.ts';
import { readListPage } from '../../../store/read-list-page.ts';
import type { Row } from '../../../store/tables.ts';
import type { Watermark } from './watermark.ts';

export class WatermarksStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async find(projectId: string, watermarkId: string): Promise<Watermark | undefined> {
    const row = await this.#database.first(
      this.#ofProject(projectId).selectAll().where('id', '=', watermarkId),
    );
    return row === undefined ? undefined : watermarkFrom(row);
  }

  async list(
    projectId: string,
    { direction }: Sort<'createdAt'>,
    page: PageRequest,
  ): Promise<ListResult<Watermark>> {
    return readListPage(this.#database, {
      table: 'watermarks',
      matching: this.#ofProject(projectId),
      id: 'id',
      sort: { field: 'created_at_ms', direction },
      page,
      total: await listTotal(this.#database, projectId, 'watermarks'),
      toItem: watermarkFrom,
    });
  }

  async add(watermark: Watermark): Promise<void> {
    await this.#database.run(
      this.#database.queries.insertInto('watermarks').values({
        id: watermark.watermarkId,
        project_id: watermark.projectId,
        name: watermark.name ?? null,
        media_type: watermark.mediaType,
        width: watermark.width,
        height: watermark.height,
        created_at_ms: watermark.createdAtMs,
      }),
    );
  }

  /** Returns false when it was deleted meanwhile. */
  async rename(projectId: string, watermarkId: string, name: string | undefined): Promise<boolean> {
    const changed = await this.#database.run(
      this.#database.queries
        .updateTable('watermarks')
        .set({ name: name ?? null })
        .where('id', '=', watermarkId)
        .where('project_id', '=', projectId),
    );
    return changed > 0;
  }

  async remove(projectId: string, watermarkId: string): Promise<void> {
    await this.#database.run(
      this.#database.queries
        .deleteFrom('watermarks')
        .where('id', '=', watermarkId)
        .where('project_id', '=', projectId),
    );
  }

  async removeLost(watermarkId: string): Promise<void> {
    await this.#database.run(this.#database.queries.deleteFrom('watermarks').where('id', '=', watermarkId));
  }

  #ofProject(projectId: string) {
    return this.#database.queries.selectFrom('watermarks').where('project_id', '=', projectId);
  }
}

function watermarkFrom(row: Row<'watermarks'>): Watermark {
  return {
    watermarkId: row.id,
    projectId: row.project_id,
    name: row.name ?? undefined,
    mediaType: row.media_type,
    width: row.width,
    height: row.height,
    createdAtMs: row.created_at_ms,
  };
}
