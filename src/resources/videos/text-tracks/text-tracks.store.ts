import type { PageRequest } from '../../../shared/list-page.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import type { Row } from '../../../store/tables.ts';
import type { TextTrack, TextTrackKind } from './text-track.ts';

export class TextTracksStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @param language a tag in its canonical case */
  async find(
    videoId: string,
    kind: TextTrackKind,
    language: string,
    connection: Connection = this.#database,
  ): Promise<TextTrack | undefined> {
    const row = await connection.first(
      this.#ofVideo(videoId, kind).selectAll().where('language', '=', language),
    );
    return row === undefined ? undefined : trackFrom(row);
  }

  async count(
    videoId: string,
    kind: TextTrackKind,
    connection: Connection = this.#database,
  ): Promise<number> {
    const count = this.#ofVideo(videoId, kind).select(({ fn }) => fn.countAll<number>().as('total'));
    return (await connection.first(count))?.total ?? 0;
  }

  /** Lists tracks in the order of language tags. */
  async list(videoId: string, kind: TextTrackKind, page?: PageRequest): Promise<TextTrack[]> {
    const all = this.#ofVideo(videoId, kind).selectAll().orderBy('language');
    const rows = await this.#database.all(
      page === undefined ? all : all.limit(page.pageSize).offset((page.currentPage - 1) * page.pageSize),
    );
    return rows.map(trackFrom);
  }

  async put(
    { videoId, kind, language, isDefault, file, bytes, isGenerated, warnings = [] }: TextTrack,
    transaction: Transaction,
  ): Promise<void> {
    const content = {
      file,
      bytes,
      is_generated: Number(isGenerated),
      warnings: warnings.length === 0 ? null : JSON.stringify(warnings),
    };
    await transaction.run(
      transaction.queries
        .insertInto('text_tracks')
        .values({ video_id: videoId, kind, language, is_default: Number(isDefault), ...content })
        .onConflict(conflict => conflict.columns(['video_id', 'kind', 'language']).doUpdateSet(content)),
    );
  }

  /**
   * Adds captions of a source. Returns the file that no row names: that of generated captions, which are replaced, or the
   * new one when there are other captions of the language.
   */
  async add(
    track: Omit<TextTrack, 'kind' | 'isDefault' | 'isGenerated' | 'warnings'>,
    transaction: Transaction,
  ): Promise<string | undefined> {
    const { videoId, language, file } = track;
    const present = await this.find(videoId, 'captions', language, transaction);
    if (present?.isGenerated === false) return file;
    await this.put({ ...track, kind: 'captions', isDefault: false, isGenerated: false }, transaction);
    return present?.file;
  }

  async setDefault(
    { videoId, kind, language }: TextTrack,
    isDefault: boolean,
    transaction: Transaction,
  ): Promise<void> {
    const ofVideo = transaction.queries.updateTable('text_tracks').where('video_id', '=', videoId);
    if (isDefault) await transaction.run(ofVideo.set({ is_default: 0 }).where('is_default', '=', 1));
    await transaction.run(
      ofVideo
        .set({ is_default: Number(isDefault) })
        .where('kind', '=', kind)
        .where('language', '=', language),
    );
  }

  async remove(
    { videoId, kind, language }: Pick<TextTrack, 'videoId' | 'kind' | 'language'>,
    connection: Connection = this.#database,
  ): Promise<void> {
    await connection.run(
      connection.queries
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

function trackFrom(row: Row<'text_tracks'>): TextTrack {
  return {
    videoId: row.video_id,
    kind: row.kind,
    language: row.language,
    isDefault: row.is_default === 1,
    file: row.file,
    bytes: row.bytes,
    isGenerated: row.is_generated === 1,
    warnings: row.warnings === null ? [] : JSON.parse(row.warnings),
  };
}
