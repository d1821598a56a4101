import type { Database } from '../../../store/database.ts';
import type { RenditionRow } from '../../../store/media-tables.ts';
import type { RenditionName } from '../../../vod/encoding-repository.ts';

/** Whether something complete can be played of a video with these renditions: its picture, or where it has none its sound. */
export function isPlayable(rows: readonly Pick<RenditionRow, 'type' | 'status'>[]): boolean {
  const isEncoded = (wanted: RenditionRow['type']) =>
    rows.some(({ type, status }) => type === wanted && status === 'encoded');
  const hasVideo = rows.some(({ type }) => type === 'hls');
  const isAudioEncoded = rows.every(({ type, status }) => type !== 'audio' || status === 'encoded');
  return isAudioEncoded && (hasVideo ? isEncoded('hls') : isEncoded('audio'));
}

/** The rows of videos' renditions, for all that write down what became of them. */
export class RenditionsStore {
  readonly #database: Database;
  readonly #ofVideo;

  constructor(database: Database) {
    this.#database = database;
    this.#ofVideo = database.sqlite.prepare<[string], RenditionRow>(
      'SELECT * FROM renditions WHERE video_id = ? ORDER BY position',
    );
  }

  /** In the order of the status: HLS ascending, mp4, audio. */
  ofVideo(videoId: string): RenditionRow[] {
    return this.#ofVideo.all(videoId);
  }

  /** Changes a rendition, where it is there. */
  set(videoId: string, { type, quality }: RenditionName, values: Partial<RenditionRow>): void {
    this.#database.run(
      this.#database.queries
        .updateTable('renditions')
        .set(values)
        .where('video_id', '=', videoId)
        .where('type', '=', type)
        .where('quality', '=', quality),
    );
  }

  /** What of a video is not encoded has failed. */
  failUnfinished(videoId: string): void {
    this.#database.run(
      this.#database.queries
        .updateTable('renditions')
        .set({ status: 'failed' })
        .where('video_id', '=', videoId)
        .where('status', '!=', 'encoded'),
    );
  }
}
