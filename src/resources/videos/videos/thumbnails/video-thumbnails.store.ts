import type { Connection, Transaction } from '../../../../store/connection.ts';
import type { Database } from '../../../../store/database.ts';
import { prepareQuery } from '../../../../store/prepared-query.ts';
import { lockForKeyShare } from '../../../../store/row-locks.ts';
import type { Row } from '../../../../store/tables.ts';

export interface ThumbnailChoice {
  readonly choice: 'default' | 'timecode' | 'upload';
  readonly timecode?: string;
}

export interface ThumbnailFile {
  /** Relative to the video's folder. */
  readonly file: string;
  readonly type: 'image/jpeg' | 'image/png' | 'image/webp';
}

export type ThumbnailUpdate =
  | { readonly isShown: true; readonly replacedFile: string | undefined }
  | { readonly isShown: false };

const typesByExtension: Readonly<Record<string, ThumbnailFile['type']>> = {
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
};

export class VideoThumbnailsStore {
  readonly #database: Database;
  readonly #find;

  constructor(database: Database) {
    this.#database = database;
    this.#find = prepareQuery<{ videoId: string }, Row<'video_thumbnails'>>(({ videoId }) =>
      database.queries.selectFrom('video_thumbnails').selectAll().where('video_id', '=', videoId),
    );
  }

  async fileOf(videoId: string): Promise<ThumbnailFile | undefined> {
    const file = (await this.#database.first(this.#find({ videoId })))?.file;
    if (file === undefined || file === null) return undefined;
    return { file, type: typesByExtension[file.slice(file.lastIndexOf('.') + 1)] ?? 'image/jpeg' };
  }

  async choiceOf(videoId: string): Promise<ThumbnailChoice | undefined> {
    const row = await this.#database.first(this.#find({ videoId }));
    if (row === undefined) return undefined;
    return { choice: row.choice, ...(row.timecode === null ? {} : { timecode: row.timecode }) };
  }

  /** Keeps the current image until the frame is extracted. Returns false when the video is deleted. */
  requestTimecode(
    videoId: string,
    timecode: string,
    connection: Connection = this.#database,
  ): Promise<boolean> {
    return connection.transaction(async transaction => {
      if (!(await holdVideo(videoId, transaction))) return false;
      const current = await transaction.first(this.#find({ videoId }));
      await set(videoId, { choice: 'timecode', timecode, file: current?.file ?? null }, transaction);
      return true;
    });
  }

  showUpload(
    videoId: string,
    file: string,
    connection: Connection = this.#database,
  ): Promise<ThumbnailUpdate> {
    return this.#show(videoId, { choice: 'upload', timecode: null, file }, () => true, connection);
  }

  /** Shows a frame if it is still the chosen one. `timecode` is undefined for the default frame. */
  showFrame(videoId: string, file: string, timecode: string | undefined): Promise<ThumbnailUpdate> {
    const choice = timecode === undefined ? 'default' : 'timecode';
    return this.#show(videoId, { choice, timecode: timecode ?? null, file }, chosen =>
      chosen === undefined
        ? choice === 'default'
        : chosen.choice === choice && (chosen.timecode ?? undefined) === timecode,
    );
  }

  /** A lost upload gives way to the default frame. */
  async clear(videoId: string, connection: Connection = this.#database): Promise<void> {
    await connection.transaction(async transaction => {
      const { queries } = transaction;
      await transaction.run(
        queries.updateTable('video_thumbnails').set({ file: null }).where('video_id', '=', videoId),
      );
      await transaction.run(
        queries.deleteFrom('video_thumbnails').where('video_id', '=', videoId).where('choice', '=', 'upload'),
      );
    });
  }

  #show(
    videoId: string,
    row: Omit<Row<'video_thumbnails'>, 'video_id'>,
    isChosen: (row: Row<'video_thumbnails'> | undefined) => boolean,
    connection: Connection = this.#database,
  ): Promise<ThumbnailUpdate> {
    return connection.transaction(async transaction => {
      if (!(await holdVideo(videoId, transaction))) return { isShown: false };
      const current = await transaction.first(this.#find({ videoId }));
      if (!isChosen(current)) return { isShown: false };
      await set(videoId, row, transaction);
      return { isShown: true, replacedFile: current?.file ?? undefined };
    });
  }
}

/** Changes of one thumbnail wait for each other. Returns false when the video is deleted. */
async function holdVideo(videoId: string, transaction: Transaction): Promise<boolean> {
  await transaction.lock('thumbnail', videoId);
  const video = transaction.queries.selectFrom('videos').select('id').where('id', '=', videoId);
  return (await transaction.first(lockForKeyShare(video, transaction))) !== undefined;
}

async function set(
  videoId: string,
  row: Omit<Row<'video_thumbnails'>, 'video_id'>,
  transaction: Transaction,
): Promise<void> {
  await transaction.run(
    transaction.queries
      .insertInto('video_thumbnails')
      .values({ video_id: videoId, ...row })
      .onConflict(conflict => conflict.column('video_id').doUpdateSet(row)),
  );
}
