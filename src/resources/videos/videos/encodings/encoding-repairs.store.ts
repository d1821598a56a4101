import type { Transaction } from '../../../../store/connection.ts';
import type { Database } from '../../../../store/database.ts';
import type { Row } from '../../../../store/tables.ts';
import type { CodecRenditionName, RenditionName } from '../../../../vod/encoding-repository.ts';
import { isPlayable, RenditionsStore } from './renditions.store.ts';

const filesMissingFailure = 'The files of this video are missing on the server.';

interface EncodingRepair {
  /** Renditions without their files. `isRebuilt`: a job encodes them again. */
  readonly lost: readonly (RenditionName & { readonly isRebuilt: boolean })[];
  readonly lostCodecRenditions: readonly CodecRenditionName[];
  readonly found: readonly RenditionName[];
  readonly isUnfinished: boolean;
  readonly isStoryboardLost: boolean;
  readonly hasSource: boolean;
}

export class EncodingRepairsStore {
  readonly #renditions: RenditionsStore;

  constructor(database: Database) {
    this.#renditions = new RenditionsStore(database);
  }

  async repair(videoId: string, repair: EncodingRepair, transaction: Transaction): Promise<void> {
    const set = (renditions: readonly RenditionName[], values: Partial<Row<'renditions'>>) =>
      this.#renditions.set(videoId, renditions, values, transaction);
    const isRebuilt = (rendition: EncodingRepair['lost'][number]) => rendition.isRebuilt;
    await set(repair.lost.filter(isRebuilt), {
      status: 'waiting',
      progress_percent: 0,
      file: null,
      facts: null,
    });
    // Keeps the file name of renditions that are not rebuilt, in case the file comes back.
    await set(
      repair.lost.filter(rendition => !isRebuilt(rendition)),
      { status: 'failed' },
    );
    await set(repair.found, { status: 'encoded', progress_percent: 100 });
    for (const { codec, quality } of repair.lostCodecRenditions) {
      const waiting = { status: 'waiting', progress_percent: 0, file: null, facts: null } as const;
      await transaction.run(
        transaction.queries
          .updateTable('codec_renditions')
          .set(repair.hasSource ? waiting : { status: 'failed' })
          .where('video_id', '=', videoId)
          .where('codec', '=', codec)
          .where('quality', '=', quality),
      );
    }
    // A video without a source cannot be encoded further.
    if (repair.isUnfinished && !repair.hasSource) await this.#renditions.failUnfinished(videoId, transaction);
    if (repair.lost.length > 0 || repair.found.length > 0 || repair.isUnfinished) {
      await this.#updateState(videoId, repair.hasSource, transaction);
    }
    await transaction.run(
      transaction.queries
        .updateTable('video_encodings')
        .set(eb => ({
          revision: eb('revision', '+', 1),
          ...(repair.isStoryboardLost ? { has_storyboard: 0 } : {}),
        }))
        .where('video_id', '=', videoId),
    );
  }

  async #updateState(videoId: string, hasSource: boolean, transaction: Transaction): Promise<void> {
    const { queries } = transaction;
    const rows = await this.#renditions.ofVideo(videoId, transaction);
    const playable = isPlayable(rows);
    const isFinished =
      rows.length === 0
        ? !hasSource
        : rows.every(({ status }) => status === 'encoded' || status === 'failed');
    const encoding = queries.selectFrom('video_encodings').select('failure').where('video_id', '=', videoId);
    const failure =
      playable || !isFinished ? null : ((await transaction.first(encoding))?.failure ?? filesMissingFailure);
    const values = { is_playable: Number(playable), failure };
    const initial = { facts: '{}', target_duration_seconds: null, has_storyboard: 0, revision: 0 };
    const noTracks = { audio_tracks: null, has_source_captions: 0 };
    await transaction.run(
      queries
        .insertInto('video_encodings')
        .values({ video_id: videoId, ...initial, ...noTracks, ...values })
        .onConflict(conflict => conflict.column('video_id').doUpdateSet(values)),
    );
  }
}
