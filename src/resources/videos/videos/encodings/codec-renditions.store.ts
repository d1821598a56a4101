import { type AdditionalCodec, additionalCodecs } from '../../../../shared/additional-codecs.ts';
import type { Transaction } from '../../../../store/connection.ts';
import type { Database } from '../../../../store/database.ts';
import type { Row } from '../../../../store/tables.ts';
import type {
  CodecRenditionName,
  CodecRenditionRepository,
  FinishedCodecRendition,
} from '../../../../vod/encoding-repository.ts';
import { changeEncoding, encodedRendition, waitingRendition } from './change-encoding.ts';
import type { EncodingsStore } from './encodings.store.ts';

export class CodecRenditionsStore implements CodecRenditionRepository {
  readonly #database: Database;
  readonly #progress: Pick<EncodingsStore, 'notifyProgress'>;

  constructor(database: Database, progress: Pick<EncodingsStore, 'notifyProgress'>) {
    this.#database = database;
    this.#progress = progress;
  }

  async plan(
    videoId: string,
    renditions: readonly CodecRenditionName[],
    transaction: Transaction,
  ): Promise<void> {
    if (renditions.length === 0) return;
    const rows = renditions.map(({ codec, quality }) => ({
      video_id: videoId,
      codec,
      quality,
      position: 1_000_000 * (1 + additionalCodecs.indexOf(codec)) + (Number.parseInt(quality, 10) || 0),
      ...waitingRendition,
    }));
    await changeEncoding(videoId, transaction, async () => {
      await transaction.run(
        transaction.queries
          .insertInto('codec_renditions')
          .values(rows)
          .onConflict(conflict => conflict.columns(['video_id', 'codec', 'quality']).doNothing()),
      );
    });
  }

  async markWaiting(
    videoId: string,
    renditions: readonly CodecRenditionName[],
    transaction: Transaction,
  ): Promise<void> {
    await this.#set(videoId, renditions, waitingRendition, transaction);
  }

  markStarted(
    videoId: string,
    renditions: readonly CodecRenditionName[],
    transaction: Transaction,
  ): Promise<void> {
    return this.#set(videoId, renditions, { status: 'encoding', progress_percent: 0 }, transaction);
  }

  async updateProgress(
    videoId: string,
    renditions: readonly CodecRenditionName[],
    percent: number,
  ): Promise<void> {
    this.#notify(videoId, renditions, percent);
    await this.#set(videoId, renditions, { progress_percent: Math.floor(percent) });
  }

  markFinished(
    videoId: string,
    renditions: readonly FinishedCodecRendition[],
    transaction: Transaction,
  ): Promise<void> {
    return changeEncoding(videoId, transaction, async () => {
      for (const rendition of renditions) {
        await this.#set(videoId, [rendition], encodedRendition(rendition), transaction);
      }
      // The storage of the video is measured again.
      await transaction.run(
        transaction.queries
          .updateTable('stored_videos')
          .set(eb => ({ due_at_ms: 0, changes: eb('changes', '+', 1) }))
          .where('video_id', '=', videoId),
      );
      transaction.afterCommit(() => this.#notify(videoId, renditions, 100));
    });
  }

  failUnfinished(videoId: string, codec: AdditionalCodec, transaction: Transaction): Promise<void> {
    return changeEncoding(videoId, transaction, async () => {
      await transaction.run(
        transaction.queries
          .updateTable('codec_renditions')
          .set({ status: 'failed' })
          .where('video_id', '=', videoId)
          .where('codec', '=', codec)
          .where('status', '!=', 'encoded'),
      );
    });
  }

  #notify(videoId: string, renditions: readonly CodecRenditionName[], percent: number): void {
    const names = renditions.map(({ codec, quality }) => ({ type: codec, quality }));
    this.#progress.notifyProgress(videoId, names, percent);
  }

  async #set(
    videoId: string,
    renditions: readonly CodecRenditionName[],
    values: Partial<Row<'codec_renditions'>>,
    connection: Transaction | Database = this.#database,
  ): Promise<void> {
    if (renditions.length === 0) return;
    await connection.run(
      connection.queries
        .updateTable('codec_renditions')
        .set(values)
        .where('video_id', '=', videoId)
        .where(({ or, and }) => or(renditions.map(({ codec, quality }) => and({ codec, quality })))),
    );
  }
}
