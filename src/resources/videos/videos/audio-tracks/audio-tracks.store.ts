import type { Connection, Transaction } from '../../../../store/connection.ts';
import type { Database } from '../../../../store/database.ts';
import type { Row } from '../../../../store/tables.ts';
import type { AudioTrack } from '../../../../vod/encoding-repository.ts';

interface StoredAudio {
  readonly tracks: readonly AudioTrack[];
  readonly renditions: readonly Pick<Row<'renditions'>, 'quality' | 'status' | 'facts'>[];
}

export class AudioTracksStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async ofVideo(videoId: string, connection: Connection = this.#database): Promise<StoredAudio> {
    const { queries } = connection;
    const row = await connection.first(
      queries.selectFrom('video_encodings').select('audio_tracks').where('video_id', '=', videoId),
    );
    const renditions = await connection.all(
      queries
        .selectFrom('renditions')
        .select(['quality', 'status', 'facts'])
        .where('video_id', '=', videoId)
        .where('type', '=', 'audio')
        .orderBy('position'),
    );
    const text = row?.audio_tracks ?? null;
    return { tracks: text === null ? [] : (JSON.parse(text) as AudioTrack[]), renditions };
  }

  /** Increases the revision, so that playlists and open pages change. */
  async set(videoId: string, tracks: readonly AudioTrack[], transaction: Transaction): Promise<void> {
    await transaction.run(
      transaction.queries
        .updateTable('video_encodings')
        .set(eb => ({ audio_tracks: JSON.stringify(tracks), revision: eb('revision', '+', 1) }))
        .where('video_id', '=', videoId),
    );
  }
}
