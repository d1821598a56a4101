import type { Database } from '../../store/database.ts';
import { jsonRows, textQuery } from '../../store/raw-query.ts';
import type { StoredBytes } from './usage.store.ts';

export interface DueVideo {
  readonly videoId: string;
  readonly hasChanged: boolean;
  readonly changes: number;
  readonly isRecording: boolean;
  readonly isGrowing: boolean;
}

export interface Measurement {
  readonly video: DueVideo;
  readonly bytes: StoredBytes;
  readonly dueAtMs: number;
}

const bytesColumns = {
  source_bytes: 'bigint',
  recording_bytes: 'bigint',
  hls_bytes: 'bigint',
  mp4_bytes: 'bigint',
  image_bytes: 'bigint',
  text_bytes: 'bigint',
} as const;

/** Triggers of the tables that name files mark videos as due. */
export class StorageMeterStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async listDue(nowMs: number, limit: number): Promise<DueVideo[]> {
    const due = this.#database.queries
      .selectFrom('stored_videos as s')
      .leftJoin('video_sources as o', 'o.video_id', 's.video_id')
      .leftJoin('recordings as r', 'r.video_id', 's.video_id')
      .select(({ selectFrom }) => [
        's.video_id',
        's.due_at_ms',
        's.changes',
        'o.origin',
        'o.status',
        'r.video_id as recording_id',
        selectFrom('renditions as e')
          .select('e.video_id')
          .whereRef('e.video_id', '=', 's.video_id')
          .where('e.status', '=', 'encoding')
          .limit(1)
          .as('encoding_id'),
        selectFrom('codec_renditions as c')
          .select('c.video_id')
          .whereRef('c.video_id', '=', 's.video_id')
          .where('c.status', '=', 'encoding')
          .limit(1)
          .as('codec_encoding_id'),
      ])
      .where('s.due_at_ms', '<=', nowMs)
      .orderBy('s.due_at_ms')
      .limit(limit);
    return (await this.#database.all(due)).map(row => ({
      videoId: row.video_id,
      hasChanged: row.due_at_ms === 0,
      changes: row.changes,
      isRecording: row.recording_id !== null || row.origin === 'recording',
      isGrowing:
        row.recording_id !== null ||
        row.encoding_id !== null ||
        row.codec_encoding_id !== null ||
        row.status === 'ingesting' ||
        row.status === 'assembling',
    }));
  }

  /** Each video is due again at its `dueAtMs`, or at once when it has changed meanwhile. */
  async saveMeasurements(measurements: readonly Measurement[]): Promise<void> {
    if (measurements.length === 0) return;
    const columns = { video_id: 'text', changes: 'bigint', due_at_ms: 'bigint', ...bytesColumns } as const;
    const text = `UPDATE stored_videos
      SET ${Object.keys(bytesColumns)
        .map(name => `${name} = m.${name}`)
        .join(', ')}, is_measured = 1,
        due_at_ms = CASE WHEN stored_videos.changes = m.changes THEN m.due_at_ms ELSE 0 END
      FROM ${jsonRows(this.#database.dialect, columns)} AS m WHERE stored_videos.video_id = m.video_id`;
    const rows = measurements.map(({ video, bytes, dueAtMs }) => ({
      video_id: video.videoId,
      changes: video.changes,
      due_at_ms: dueAtMs,
      source_bytes: bytes.sourceBytes,
      recording_bytes: bytes.recordingBytes,
      hls_bytes: bytes.hlsBytes,
      mp4_bytes: bytes.mp4Bytes,
      image_bytes: bytes.imageBytes,
      text_bytes: bytes.textBytes,
    }));
    // As a transaction, it is repeated where it and the removal of several videos wait for each other.
    await this.#database.transaction(async transaction => {
      await transaction.run(textQuery(transaction, text, [JSON.stringify(rows)]));
    });
  }

  async postpone({ videoId }: DueVideo, dueAtMs: number): Promise<void> {
    await this.#database.run(
      this.#database.queries
        .updateTable('stored_videos')
        .set({ due_at_ms: dueAtMs })
        .where('video_id', '=', videoId),
    );
  }
}
