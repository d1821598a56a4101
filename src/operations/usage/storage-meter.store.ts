import type { Database } from '../../store/database.ts';
import type { StoredBytes } from './usage.store.ts';

/** A video, or a recording that will be one, whose files are to be measured. */
export interface DueVideo {
  readonly videoId: string;
  /** What is written down of its files has changed since they were last measured. */
  readonly hasChanged: boolean;
  /** Grows with each such change. */
  readonly changes: number;
  /** Its source is a recording. */
  readonly isRecording: boolean;
  /** Somebody is writing files of it. */
  readonly isGrowing: boolean;
}

/** Which files are to be measured, and what they were measured as. Triggers of the tables that name files say when something changes. */
export class StorageMeterStore {
  readonly #due;
  readonly #measured;
  readonly #postponed;

  constructor({ sqlite }: Database) {
    this.#due = sqlite.prepare<
      [number, number],
      {
        video_id: string;
        due_at_ms: number;
        changes: number;
        is_recording: number;
        is_growing: number;
      }
    >(
      `SELECT s.video_id, s.due_at_ms, s.changes,
         r.video_id IS NOT NULL OR coalesce(o.origin = 'recording', 0) AS is_recording,
         r.video_id IS NOT NULL OR coalesce(o.status IN ('ingesting', 'assembling'), 0)
           OR EXISTS (SELECT 1 FROM renditions e WHERE e.video_id = s.video_id AND e.status = 'encoding') AS is_growing
       FROM stored_videos s
         LEFT JOIN video_sources o ON o.video_id = s.video_id
         LEFT JOIN recordings r ON r.video_id = s.video_id
       WHERE s.due_at_ms <= ? ORDER BY s.due_at_ms LIMIT ?`,
    );
    this.#measured = sqlite.prepare<[StoredBytes & { videoId: string; changes: number; dueAtMs: number }]>(
      `UPDATE stored_videos
       SET source_bytes = @sourceBytes, recording_bytes = @recordingBytes, hls_bytes = @hlsBytes,
         mp4_bytes = @mp4Bytes, image_bytes = @imageBytes, text_bytes = @textBytes,
         is_measured = 1, due_at_ms = CASE WHEN changes = @changes THEN @dueAtMs ELSE 0 END
       WHERE video_id = @videoId`,
    );
    this.#postponed = sqlite.prepare<[number, string]>(
      'UPDATE stored_videos SET due_at_ms = ? WHERE video_id = ?',
    );
  }

  /** Those that are to be measured now; what has changed comes first. */
  listDue(nowMs: number, limit: number): DueVideo[] {
    return this.#due.all(nowMs, limit).map(row => ({
      videoId: row.video_id,
      hasChanged: row.due_at_ms === 0,
      changes: row.changes,
      isRecording: row.is_recording === 1,
      isGrowing: row.is_growing === 1,
    }));
  }

  /** Notes what the files of a video have. It is due again at `dueAtMs`, or at once when it has changed meanwhile. */
  saveMeasurement({ videoId, changes }: DueVideo, bytes: StoredBytes, dueAtMs: number): void {
    this.#measured.run({ ...bytes, videoId, changes, dueAtMs });
  }

  /** Leaves a video for later. */
  postpone({ videoId }: DueVideo, dueAtMs: number): void {
    this.#postponed.run(dueAtMs, videoId);
  }
}
