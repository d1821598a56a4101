import type { Database } from '../../../store/database.ts';
import type { RenditionRow } from '../../../store/media-tables.ts';
import type { RenditionName } from '../../../vod/encoding-repository.ts';

/** A video is playable when its audio and, if it has video, one HLS rendition are encoded. */
export function isPlayable(rows: readonly Pick<RenditionRow, 'type' | 'status'>[]): boolean {
  const isEncoded = (wanted: RenditionRow['type']) =>
    rows.some(({ type, status }) => type === wanted && status === 'encoded');
  const hasVideo = rows.some(({ type }) => type === 'hls');
  const isAudioEncoded = rows.every(({ type, status }) => type !== 'audio' || status === 'encoded');
  return isAudioEncoded && (hasVideo ? isEncoded('hls') : isEncoded('audio'));
}

export class RenditionsStore {
  readonly #database: Database;
  readonly #ofVideo;

  constructor(database: Database) {
    this.#database = database;
    this.#ofVideo = database.prepare<{ videoId: string }, RenditionRow>(({ videoId }) =>
      database.queries
        .selectFrom('renditions')
        .selectAll()
        .where('video_id', '=', videoId)
        .orderBy('position'),
    );
  }

  /** In the order of the API: HLS ascending, mp4, audio. */
  ofVideo(videoId: string): RenditionRow[] {
    return this.#ofVideo.all({ videoId });
  }

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
