import type { Database } from '../../store/database.ts';
import type { TextTrackRow } from '../../store/tables.ts';
import type { TextTrack, TextTrackKind } from './text-track.ts';

/** Captions and chapters in the database. A video has few of them, so they are counted when that is asked. */
export class TextTracksStore {
  readonly #database: Database;
  readonly #find;
  readonly #count;

  constructor(database: Database) {
    this.#database = database;
    this.#find = database.sqlite.prepare<[string, string, string], TextTrackRow>(
      'SELECT * FROM text_tracks WHERE video_id = ? AND kind = ? AND language = ?',
    );
    this.#count = database.sqlite.prepare<[string, string], { total: number }>(
      'SELECT count(*) AS total FROM text_tracks WHERE video_id = ? AND kind = ?',
    );
  }

  /** A track by its language, a tag in its usual case. */
  find(videoId: string, kind: TextTrackKind, language: string): TextTrack | undefined {
    const row = this.#find.get(videoId, kind, language);
    return row === undefined ? undefined : trackFrom(row);
  }

  /** How many tracks of a kind a video has. */
  count(videoId: string, kind: TextTrackKind): number {
    return this.#count.get(videoId, kind)?.total ?? 0;
  }

  /** Tracks of a kind in the order of their tags: all, or those of one page. */
  list(
    videoId: string,
    kind: TextTrackKind,
    page?: { readonly currentPage: number; readonly pageSize: number },
  ): TextTrack[] {
    const all = this.#database.queries
      .selectFrom('text_tracks')
      .selectAll()
      .where('video_id', '=', videoId)
      .where('kind', '=', kind)
      .orderBy('language');
    const rows = this.#database.all(
      page === undefined ? all : all.limit(page.pageSize).offset((page.currentPage - 1) * page.pageSize),
    );
    return rows.map(trackFrom);
  }

  /** Adds a track, or puts another file in its place. */
  put({ videoId, kind, language, isDefault, file, bytes }: TextTrack): void {
    this.#database.run(
      this.#database.queries
        .insertInto('text_tracks')
        .values({
          ...{ video_id: videoId, kind, language, file, bytes },
          is_default: Number(isDefault),
        })
        .onConflict(conflict => conflict.doUpdateSet({ file, bytes })),
    );
  }

  /** Makes captions the default ones of their video, in place of any other, or no longer. In a transaction. */
  setDefault({ videoId, kind, language }: TextTrack, isDefault: boolean): void {
    const { queries } = this.#database;
    const ofVideo = queries.updateTable('text_tracks').where('video_id', '=', videoId);
    if (isDefault) this.#database.run(ofVideo.set({ is_default: 0 }).where('is_default', '=', 1));
    this.#database.run(
      ofVideo
        .set({ is_default: Number(isDefault) })
        .where('kind', '=', kind)
        .where('language', '=', language),
    );
  }

  /** Removes a track. */
  remove({ videoId, kind, language }: TextTrack): void {
    this.#database.run(
      this.#database.queries
        .deleteFrom('text_tracks')
        .where('video_id', '=', videoId)
        .where('kind', '=', kind)
        .where('language', '=', language),
    );
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
