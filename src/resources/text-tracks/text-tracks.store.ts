import type { PageRequest } from '../../shared/list-page.ts';
import type { Database } from '../../store/database.ts';
import type { TextTrackRow } from '../../store/media-tables.ts';
import type { TextTrack, TextTrackKind } from './text-track.ts';

export class TextTracksStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @param language a tag in its canonical case */
  find(videoId: string, kind: TextTrackKind, language: string): TextTrack | undefined {
    const row = this.#database.first(
      this.#ofVideo(videoId, kind).selectAll().where('language', '=', language),
    );
    return row === undefined ? undefined : trackFrom(row);
  }

  count(videoId: string, kind: TextTrackKind): number {
    const count = this.#ofVideo(videoId, kind).select(({ fn }) => fn.countAll<number>().as('total'));
    return this.#database.first(count)?.total ?? 0;
  }

  /** In the order of language tags. */
  list(videoId: string, kind: TextTrackKind, page?: PageRequest): TextTrack[] {
    const all = this.#ofVideo(videoId, kind).selectAll().orderBy('language');
    const rows = this.#database.all(
      page === undefined ? all : all.limit(page.pageSize).offset((page.currentPage - 1) * page.pageSize),
    );
    return rows.map(trackFrom);
  }

  put({ videoId, kind, language, isDefault, file, bytes }: TextTrack): void {
    this.#database.run(
      this.#database.queries
        .insertInto('text_tracks')
        .values({ video_id: videoId, kind, language, file, bytes, is_default: Number(isDefault) })
        .onConflict(conflict => conflict.doUpdateSet({ file, bytes })),
    );
  }

  /** Call this in a transaction. */
  setDefault({ videoId, kind, language }: TextTrack, isDefault: boolean): void {
    const ofVideo = this.#database.queries.updateTable('text_tracks').where('video_id', '=', videoId);
    if (isDefault) this.#database.run(ofVideo.set({ is_default: 0 }).where('is_default', '=', 1));
    this.#database.run(
      ofVideo
        .set({ is_default: Number(isDefault) })
        .where('kind', '=', kind)
        .where('language', '=', language),
    );
  }

  remove({ videoId, kind, language }: Pick<TextTrack, 'videoId' | 'kind' | 'language'>): void {
    this.#database.run(
      this.#database.queries
        .deleteFrom('text_tracks')
        .where('video_id', '=', videoId)
        .where('kind', '=', kind)
        .where('language', '=', language),
    );
  }

  #ofVideo(videoId: string, kind: TextTrackKind) {
    return this.#database.queries
      .selectFrom('text_tracks')
      .where('video_id', '=', videoId)
      .where('kind', '=', kind);
  }
}

function trackFrom(row: TextTrackRow): TextTrack {
  return {
    videoId: row.video_id,
    kind: row.kind,
    language: row.language,
    isDefault: row.is_default === 1,
    file: row.file,
    bytes: row.bytes,
  };
}
