import type { Database } from '../../store/database.ts';

/** Bytes and uploads of a project that are not measured yet. */
export class QuotasStore {
  readonly #unmeasured;
  readonly #chunks;
  readonly #openUploads;

  constructor({ sqlite }: Database) {
    // A source counts from its completion, although its file is measured only some seconds later.
    this.#unmeasured = sqlite
      .prepare<[string], number>(
        `SELECT coalesce(sum(max(0, coalesce(o.bytes, 0) - s.source_bytes - s.recording_bytes)), 0)
         FROM stored_videos s JOIN video_sources o ON o.video_id = s.video_id
         WHERE s.due_at_ms = 0 AND s.project_id = ?`,
      )
      .pluck();
    // The states stand in the text as in the index of open sources, because only then is it used.
    const open = `FROM video_sources s JOIN videos v ON v.id = s.video_id`;
    const isOpen = `s.status IN ('uploading', 'assembling', 'ingesting') AND s.origin = 'upload' AND v.project_id = ?`;
    this.#chunks = sqlite
      .prepare<[string], number>(
        `SELECT coalesce(sum(c.bytes), 0) ${open} JOIN upload_chunks c ON c.video_id = s.video_id WHERE ${isOpen}`,
      )
      .pluck();
    this.#openUploads = sqlite.prepare<[string], number>(`SELECT count(*) ${open} WHERE ${isOpen}`).pluck();
  }

  /** Bytes of sources that are complete and of chunks of uploads that are not. */
  unmeasuredBytes(projectId: string): number {
    return this.#unmeasured.get(projectId)! + this.#chunks.get(projectId)!;
  }

  /** Uploads of which some chunks have come. */
  openUploads(projectId: string): number {
    return this.#openUploads.get(projectId)!;
  }
}
