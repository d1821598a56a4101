import { sql } from 'kysely';
import type { Connection } from '../../store/connection.ts';
import type { Database } from '../../store/database.ts';
import { listTotal } from '../../store/list-total.ts';
import { asText, type Bound, prepareQuery } from '../../store/prepared-query.ts';

export interface StoredBytes {
  readonly sourceBytes: number;
  readonly recordingBytes: number;
  readonly hlsBytes: number;
  readonly mp4Bytes: number;
  readonly imageBytes: number;
  readonly textBytes: number;
}

type OfProject = Bound<{ projectId: string }>;

export class UsageStore {
  readonly #database: Database;
  readonly #stored;
  readonly #unmeasured;
  readonly #chunks;

  constructor(database: Database) {
    this.#database = database;
    const { queries } = database;
    this.#stored = prepareQuery(({ projectId }: OfProject) =>
      queries.selectFrom('storage_totals').selectAll().where('project_id', '=', projectId),
    );
    this.#unmeasured = prepareQuery(({ projectId }: OfProject) =>
      queries
        .selectFrom('stored_videos as s')
        .innerJoin('video_sources as o', 'o.video_id', 's.video_id')
        .select(({ eb, fn, lit, ref }) => {
          const withoutSource = eb(fn.coalesce('o.bytes', lit(0)), '-', ref('s.source_bytes'));
          const missing = eb(withoutSource, '-', ref('s.recording_bytes'));
          const bytes = eb.case().when(missing, '>', lit(0)).then(missing).else(lit(0)).end();
          return fn.sum<number | null>(bytes).as('bytes');
        })
        .where('s.project_id', '=', asText(projectId))
        .where('s.due_at_ms', '=', ({ lit }) => lit(0)),
    );
    this.#chunks = prepareQuery(({ projectId }: OfProject) =>
      this.#openSources()
        .innerJoin('upload_chunks as c', 'c.video_id', 's.video_id')
        .select(({ fn }) => fn.sum<number | null>('c.bytes').as('bytes'))
        .where('v.project_id', '=', projectId),
    );
  }

  async stored(projectId: string, connection: Connection = this.#database): Promise<StoredBytes> {
    const row = await connection.first(this.#stored({ projectId }));
    return {
      sourceBytes: row?.source_bytes ?? 0,
      recordingBytes: row?.recording_bytes ?? 0,
      hlsBytes: row?.hls_bytes ?? 0,
      mp4Bytes: row?.mp4_bytes ?? 0,
      imageBytes: row?.image_bytes ?? 0,
      textBytes: row?.text_bytes ?? 0,
    };
  }

  /** Counts files that {@link stored} does not contain yet: they are measured some seconds later. */
  async unmeasuredBytes(projectId: string, connection: Connection = this.#database): Promise<number> {
    const chunks = await connection.first(this.#chunks({ projectId }));
    const unmeasured = await connection.first(this.#unmeasured({ projectId }));
    return (unmeasured?.bytes ?? 0) + (chunks?.bytes ?? 0);
  }

  async hasUnmeasured(projectId: string): Promise<boolean> {
    const unmeasured = this.#database.queries
      .selectFrom('stored_videos')
      .select('video_id')
      .where('project_id', '=', projectId)
      .where('is_measured', '=', ({ lit }) => lit(0))
      .limit(1);
    return (await this.#database.first(unmeasured)) !== undefined;
  }

  async openUploads(projectId: string, connection: Connection = this.#database): Promise<number> {
    const open = this.#openSources()
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('v.project_id', '=', asText(projectId));
    return (await connection.first(open))?.count ?? 0;
  }

  async videos(projectId: string): Promise<number> {
    const { queries, dialect } = this.#database;
    const counted =
      dialect === 'sqlite'
        ? queries
            .selectFrom('video_blocks_by_creation')
            .select(({ fn }) => fn.sum<number | null>('videos').as('count'))
            .where('project_id', '=', projectId)
            .where('is_discarded', '=', 0)
        : queries
            .selectFrom('videos')
            .select(({ fn }) => fn.countAll<number>().as('count'))
            .where('project_id', '=', projectId)
            .where('is_discarded', '=', 0);
    return (await this.#database.first<{ count: number | null }>(counted))?.count ?? 0;
  }

  liveStreams(projectId: string): Promise<number> {
    return listTotal(this.#database, projectId, 'live-streams');
  }

  #openSources() {
    // Literals, because SQLite uses the index of open sources only for its own condition.
    const open = (['uploading', 'assembling', 'ingesting'] as const).map(status => sql.lit(status));
    return this.#database.queries
      .selectFrom('video_sources as s')
      .innerJoin('videos as v', 'v.id', 's.video_id')
      .where('s.status', 'in', open)
      .where('s.origin', '=', sql.lit('upload' as const));
  }
}
