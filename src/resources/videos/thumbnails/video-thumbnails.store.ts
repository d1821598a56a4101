import type { Database } from '../../../store/database.ts';
import type { VideoThumbnailRow } from '../../../store/media-tables.ts';

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
    this.#find = database.prepare<{ videoId: string }, VideoThumbnailRow>(({ videoId }) =>
      database.queries.selectFrom('video_thumbnails').selectAll().where('video_id', '=', videoId),
    );
  }

  fileOf(videoId: string): ThumbnailFile | undefined {
    const file = this.#find.first({ videoId })?.file;
    if (file === undefined || file === null) return undefined;
    return { file, type: typesByExtension[file.slice(file.lastIndexOf('.') + 1)] ?? 'image/jpeg' };
  }

  choiceOf(videoId: string): ThumbnailChoice | undefined {
    const row = this.#find.first({ videoId });
    if (row === undefined) return undefined;
    return { choice: row.choice, ...(row.timecode === null ? {} : { timecode: row.timecode }) };
  }

  /** Keeps the current image until the frame is extracted. Returns false when the video is deleted. */
  requestTimecode(videoId: string, timecode: string): boolean {
    return this.#database.transaction(() => {
      if (!this.#hasVideo(videoId)) return false;
      this.#set(videoId, { choice: 'timecode', timecode, file: this.#find.first({ videoId })?.file ?? null });
      return true;
    });
  }

  showUpload(videoId: string, file: string): ThumbnailUpdate {
    return this.#show(videoId, { choice: 'upload', timecode: null, file }, () => true);
  }

  /** Shows a frame if it is still the chosen one. `timecode` is undefined for the default frame. */
  showFrame(videoId: string, file: string, timecode: string | undefined): ThumbnailUpdate {
    const choice = timecode === undefined ? 'default' : 'timecode';
    return this.#show(videoId, { choice, timecode: timecode ?? null, file }, chosen =>
      chosen === undefined
        ? choice === 'default'
        : chosen.choice === choice && (chosen.timecode ?? undefined) === timecode,
    );
  }

  /** A lost upload gives way to the default frame. */
  clear(videoId: string): void {
    const { queries } = this.#database;
    this.#database.run(
      queries.updateTable('video_thumbnails').set({ file: null }).where('video_id', '=', videoId),
    );
    this.#database.run(
      queries.deleteFrom('video_thumbnails').where('video_id', '=', videoId).where('choice', '=', 'upload'),
    );
  }

  #show(
    videoId: string,
    row: Omit<VideoThumbnailRow, 'video_id'>,
    isChosen: (row: VideoThumbnailRow | undefined) => boolean,
  ): ThumbnailUpdate {
    return this.#database.transaction(() => {
      const current = this.#find.first({ videoId });
      if (!isChosen(current) || !this.#hasVideo(videoId)) return { isShown: false };
      this.#set(videoId, row);
      return { isShown: true, replacedFile: current?.file ?? undefined };
    });
  }

  #hasVideo(videoId: string): boolean {
    const { queries } = this.#database;
    return (
      this.#database.first(queries.selectFrom('videos').select('id').where('id', '=', videoId)) !== undefined
    );
  }

  #set(videoId: string, row: Omit<VideoThumbnailRow, 'video_id'>): void {
    this.#database.run(
      this.#database.queries
        .insertInto('video_thumbnails')
        .values({ video_id: videoId, ...row })
        .onConflict(conflict => conflict.doUpdateSet(row)),
    );
  }
}
