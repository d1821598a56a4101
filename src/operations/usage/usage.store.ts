import type { Database } from '../../store/database.ts';
import { listTotal } from '../../store/list-total.ts';
import type { StorageTotalRow } from '../../store/tables.ts';

/** Bytes of a project's files, by kind. */
export interface StoredBytes {
  readonly sourceBytes: number;
  readonly recordingBytes: number;
  readonly hlsBytes: number;
  readonly mp4Bytes: number;
  readonly imageBytes: number;
  readonly textBytes: number;
}

type TotalColumns = { [Column in keyof StorageTotalRow]: string | number };

/** What the database knows of what a project uses; all of it is kept by triggers. */
export class UsageStore {
  readonly #database: Database;
  readonly #stored;
  readonly #unmeasured;
  readonly #videos;

  constructor(database: Database) {
    this.#database = database;
    const { sqlite } = database;
    this.#stored = sqlite.prepare<[string], TotalColumns>(
      'SELECT * FROM storage_totals WHERE project_id = ?',
    );
    this.#unmeasured = sqlite
      .prepare<[string], number>(
        'SELECT 1 FROM stored_videos WHERE project_id = ? AND is_measured = 0 LIMIT 1',
      )
      .pluck();
    this.#videos = sqlite
      .prepare<[string], number | null>(
        'SELECT sum(videos) FROM video_blocks_by_creation WHERE project_id = ? AND is_discarded = 0',
      )
      .pluck();
  }

  /** How many bytes the files of a project's videos have, by kind. */
  stored(projectId: string): StoredBytes {
    const row = this.#stored.get(projectId);
    const of = (column: keyof StorageTotalRow) => Number(row?.[column] ?? 0);
    return {
      sourceBytes: of('source_bytes'),
      recordingBytes: of('recording_bytes'),
      hlsBytes: of('hls_bytes'),
      mp4Bytes: of('mp4_bytes'),
      imageBytes: of('image_bytes'),
      textBytes: of('text_bytes'),
    };
  }

  /** Whether there are videos of a project whose files were never measured. */
  hasUnmeasured(projectId: string): boolean {
    return this.#unmeasured.get(projectId) !== undefined;
  }

  /** How many videos a project has, without those in the trash. */
  videos(projectId: string): number {
    return this.#videos.get(projectId) ?? 0;
  }

  /** How many live streams a project has. */
  liveStreams(projectId: string): number {
    return listTotal(this.#database, projectId, 'live-streams');
  }
}
