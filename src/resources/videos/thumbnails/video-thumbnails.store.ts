import type { Database } from '../../../store/database.ts';
import type { VideoThumbnailRow } from '../../../store/tables.ts';

/** Which image the owner of a video wants: the default frame, the frame at a timecode, or an own image. */
export interface ThumbnailChoice {
  readonly choice: 'default' | 'timecode' | 'upload';
  /** As the owner sent it; exactly with the choice `timecode`. */
  readonly timecode?: string;
}

/** The image that a video shows. */
export interface ThumbnailFile {
  /** Relative to the video's folder. */
  readonly file: string;
  readonly type: 'image/jpeg' | 'image/png' | 'image/webp';
}

const typesByExtension: Readonly<Record<string, ThumbnailFile['type']>> = {
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
};

/** Which image each video shows, in the database. */
export class VideoThumbnailsStore {
  readonly #database: Database;
  readonly #find;
  readonly #hasVideo;

  constructor(database: Database) {
    this.#database = database;
    this.#find = database.sqlite.prepare<[string], VideoThumbnailRow>(
      'SELECT * FROM video_thumbnails WHERE video_id = ?',
    );
    this.#hasVideo = database.sqlite.prepare<[string], { id: string }>('SELECT id FROM videos WHERE id = ?');
  }

  /** The image that a video shows; undefined while there is none. */
  fileOf(videoId: string): ThumbnailFile | undefined {
    const file = this.#find.get(videoId)?.file;
    if (file === undefined || file === null) return undefined;
    return { file, type: typesByExtension[file.slice(file.lastIndexOf('.') + 1)] ?? 'image/jpeg' };
  }

  /** What the owner wanted last; undefined when nothing was ever said. */
  choiceOf(videoId: string): ThumbnailChoice | undefined {
    const row = this.#find.get(videoId);
    if (row === undefined) return undefined;
    return { choice: row.choice, ...(row.timecode === null ? {} : { timecode: row.timecode }) };
  }

  /**
   * Notes that the frame at a timecode is wanted; the video shows what it showed until that is there.
   *
   * @returns false when the video is gone
   */
  requestTimecode(videoId: string, timecode: string): boolean {
    return this.#database.transaction(() => {
      if (this.#hasVideo.get(videoId) === undefined) return false;
      this.#set(videoId, { choice: 'timecode', timecode, file: this.#find.get(videoId)?.file ?? null });
      return true;
    });
  }

  /** Lets a video show an uploaded image. */
  showUpload(videoId: string, file: string): ThumbnailUpdate {
    return this.#show(videoId, { choice: 'upload', timecode: null, file }, () => true);
  }

  /** Lets a video show a frame, if it is still the one that is wanted. `timecode`: undefined for the default frame. */
  showFrame(videoId: string, file: string, timecode: string | undefined): ThumbnailUpdate {
    const choice = timecode === undefined ? 'default' : 'timecode';
    return this.#show(videoId, { choice, timecode: timecode ?? null, file }, wanted =>
      wanted === undefined
        ? choice === 'default'
        : wanted.choice === choice && (wanted.timecode ?? undefined) === timecode,
    );
  }

  #show(
    videoId: string,
    row: Omit<VideoThumbnailRow, 'video_id'>,
    isWanted: (row: VideoThumbnailRow | undefined) => boolean,
  ): ThumbnailUpdate {
    return this.#database.transaction(() => {
      const before = this.#find.get(videoId);
      if (!isWanted(before) || this.#hasVideo.get(videoId) === undefined) return { isShown: false };
      this.#set(videoId, row);
      return { isShown: true, before: before?.file ?? undefined };
    });
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

/** Whether an image is what its video shows now; `before` is the file that nobody needs any more. */
export type ThumbnailUpdate =
  | { readonly isShown: true; readonly before: string | undefined }
  | { readonly isShown: false };
