import { isLeftOut, parseAudioRenditionName } from '../../../../shared/audio-rendition.ts';
import type { Connection, Transaction } from '../../../../store/connection.ts';
import type { Database } from '../../../../store/database.ts';
import { asText, prepareQuery } from '../../../../store/prepared-query.ts';
import type { Row } from '../../../../store/tables.ts';
import type { RenditionName } from '../../../../vod/encoding-repository.ts';
import { waitingRendition } from './change-encoding.ts';

const typeOrder: readonly RenditionName['type'][] = ['hls', 'mp4', 'audio'];

/**
 * A video is playable when its audio and, if it has video, one HLS rendition are encoded. Further audio tracks may have
 * failed.
 */
export function isPlayable(rows: readonly Pick<Row<'renditions'>, 'type' | 'quality' | 'status'>[]): boolean {
  const isEncoded = (wanted: Row<'renditions'>['type']) =>
    rows.some(({ type, status }) => type === wanted && status === 'encoded');
  const hasVideo = rows.some(({ type }) => type === 'hls');
  const isAudioEncoded = rows.every(
    row => row.type !== 'audio' || row.status === 'encoded' || isLeftOut(row),
  );
  return isAudioEncoded && (hasVideo ? isEncoded('hls') : isEncoded('audio'));
}

export class RenditionsStore {
  readonly #database: Database;
  readonly #ofVideo;

  constructor(database: Database) {
    this.#database = database;
    this.#ofVideo = prepareQuery<{ videoId: string }, Row<'renditions'>>(({ videoId }) =>
      database.queries
        .selectFrom('renditions')
        .selectAll()
        .where('video_id', '=', asText(videoId))
        .orderBy('position'),
    );
  }

  /** Lists renditions in the order of the API: HLS ascending, mp4, audio. */
  ofVideo(videoId: string, connection: Connection = this.#database): Promise<Row<'renditions'>[]> {
    return connection.all(this.#ofVideo({ videoId }));
  }

  /** Leaves those that exist already. */
  async insert(
    videoId: string,
    renditions: readonly RenditionName[],
    transaction: Transaction,
  ): Promise<void> {
    if (renditions.length === 0) return;
    const rows = renditions.map(({ type, quality }) => ({
      video_id: videoId,
      type,
      quality,
      position: typeOrder.indexOf(type) * 100_000 + placeOf(quality),
      ...waitingRendition,
    }));
    await transaction.run(
      transaction.queries
        .insertInto('renditions')
        .values(rows)
        .onConflict(conflict => conflict.columns(['video_id', 'type', 'quality']).doNothing()),
    );
  }

  async set(
    videoId: string,
    renditions: readonly RenditionName[],
    values: Partial<Row<'renditions'>>,
    connection: Connection = this.#database,
  ): Promise<void> {
    if (renditions.length === 0) return;
    await connection.run(
      connection.queries
        .updateTable('renditions')
        .set(values)
        .where('video_id', '=', videoId)
        .where(({ or, and }) => or(renditions.map(({ type, quality }) => and({ type, quality })))),
    );
  }

  async failUnfinished(videoId: string, transaction: Transaction): Promise<void> {
    await transaction.run(
      transaction.queries
        .updateTable('renditions')
        .set({ status: 'failed' })
        .where('video_id', '=', videoId)
        .where('status', '!=', 'encoded'),
    );
  }
}

/** Position by height; audio by track, stereo before 5.1. */
function placeOf(quality: string): number {
  const audio = parseAudioRenditionName(quality);
  if (audio === undefined) return Number.parseInt(quality, 10) || 0;
  return audio.track === 1 && !audio.isSurround ? 0 : audio.track + (audio.isSurround ? 1000 : 0);
}
