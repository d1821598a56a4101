import { sql } from 'kysely';
import type { Database } from '../../store/database.ts';
import { listTotal } from '../../store/list-total.ts';
import type { Bound } from '../../store/prepared-query.ts';

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
    this.#stored = database.prepare(({ projectId }: OfProject) =>
      queries.selectFrom('storage_totals').selectAll().where('project_id', '=', projectId),
    );
    this.#unmeasured = database.prepare(({ projectId }: OfProject) =>
      queries
        .selectFrom('stored_videos as s')
        .innerJoin('video_sources as o', 'o.video_id', 's.video_id')
        .select(({ eb, fn, lit, ref }) => {
          const withoutSource = eb(fn.coalesce('o.bytes', lit(0)), '-', ref('s.source_bytes'));
          const missing = eb(withoutSource, '-', ref('s.recording_bytes'));
          return fn.sum<number | null>(fn<number>('max', [lit(0), missing])).as('bytes');
        })
        .where('s.project_id', '=', projectId)
        .where('s.due_at_ms', '=', ({ lit }) => lit(0)),
    );
    this.#chunks = database.prepare(({ projectId }: OfProject) =>
      this.#openSources()
        .innerJoin('upload_chunks as c', 'c.video_id', 's.video_id')
        .select(({ fn }) => fn.sum<number | null>('c.bytes').as('bytes'))
        .where('v.project_id', '=', projectId),
    );
  }

  stored(projectId: string): StoredBytes {
    const row = this.#stored.first({ projectId });
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
  unmeasuredBytes(projectId: string): number {
    return (
      (this.#unmeasured.first({ projectId })?.bytes ?? 0) + (this.#chunks.first({ projectId })?.bytes ?? 0)
    );
  }

  hasUnmeasured(projectId: string): boolean {
    const unmeasured = this.#database.queries
      .selectFrom('stored_videos')
      .select('video_id')
      .where('project_id', '=', projectId)
      .where('is_measured', '=', ({ lit }) => lit(0))
      .limit(1);
    return this.#database.first(unmeasured) !== undefined;
  }

  openUploads(projectId: string): number {
    const open = this.#openSources()
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('v.project_id', '=', projectId);
    return this.#database.first(open)?.count ?? 0;
  }

  videos(projectId: string): number {
    const blocks = this.#database.queries
      .selectFrom('video_blocks_by_creation')
      .select(({ fn }) => fn.sum<number | null>('videos').as('count'))
      .where('project_id', '=', projectId)
      .where('is_discarded', '=', 0);
    return this.#database.first(blocks)?.count ?? 0;
  }

  liveStreams(projectId: string): number {
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
