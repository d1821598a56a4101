import type { Database } from '../../../store/database.ts';
import type { RenditionName } from '../../../vod/encoding-repository.ts';
import { isPlayable, RenditionsStore } from './renditions.store.ts';

const filesMissingFailure = 'The files of this video are gone.';

interface EncodingRepair {
  /** Renditions without their files. `isRebuilt`: a job encodes them again. */
  readonly lost: readonly (RenditionName & { readonly isRebuilt: boolean })[];
  readonly found: readonly RenditionName[];
  readonly isUnfinished: boolean;
  readonly isStoryboardLost: boolean;
  readonly hasSource: boolean;
}

export class EncodingRepairsStore {
  readonly #database: Database;
  readonly #renditions: RenditionsStore;

  constructor(database: Database) {
    this.#database = database;
    this.#renditions = new RenditionsStore(database);
  }

  /** Call this in a transaction. */
  repair(videoId: string, repair: EncodingRepair): void {
    for (const { isRebuilt, ...rendition } of repair.lost) {
      // Without a rebuild, the row keeps the name of its file, in case the file comes back.
      this.#renditions.set(
        videoId,
        rendition,
        isRebuilt
          ? { status: 'waiting', progress_percent: 0, file: null, facts: null }
          : { status: 'failed' },
      );
    }
    for (const rendition of repair.found) {
      this.#renditions.set(videoId, rendition, { status: 'encoded', progress_percent: 100 });
    }
    // A video without a source cannot be encoded further.
    if (repair.isUnfinished && !repair.hasSource) this.#renditions.failUnfinished(videoId);
    if (repair.lost.length > 0 || repair.found.length > 0 || repair.isUnfinished) {
      this.#updateState(videoId, repair.hasSource);
    }
    this.#database.run(
      this.#database.queries
        .updateTable('video_encodings')
        .set(eb => ({
          revision: eb('revision', '+', 1),
          ...(repair.isStoryboardLost ? { has_storyboard: 0 } : {}),
        }))
        .where('video_id', '=', videoId),
    );
  }

  #updateState(videoId: string, hasSource: boolean): void {
    const { queries } = this.#database;
    const rows = this.#renditions.ofVideo(videoId);
    const playable = isPlayable(rows);
    const isFinished =
      rows.length === 0
        ? !hasSource
        : rows.every(({ status }) => status === 'encoded' || status === 'failed');
    const encoding = queries.selectFrom('video_encodings').select('failure').where('video_id', '=', videoId);
    const failure =
      playable || !isFinished ? null : (this.#database.first(encoding)?.failure ?? filesMissingFailure);
    const values = { is_playable: Number(playable), failure };
    const initial = { facts: '{}', target_duration_seconds: null, has_storyboard: 0, revision: 0 };
    this.#database.run(
      queries
        .insertInto('video_encodings')
        .values({ video_id: videoId, ...initial, ...values })
        .onConflict(conflict => conflict.doUpdateSet(values)),
    );
  }
}
