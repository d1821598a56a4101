import { rm, rmdir } from 'node:fs/promises';
import type { ImageType } from '../../../http/bodies/image-file.ts';
import type { UploadedFile } from '../../../http/routing/route.ts';
import { AppError } from '../../../shared/errors.ts';
import { newUuid } from '../../../shared/ids.ts';
import type { MediaFiles } from '../../../storage/media-files.ts';
import type { Database } from '../../../store/database.ts';
import { type AddSandboxWatermark, prepareThumbnail, type ThumbnailOwner } from './prepare-thumbnail.ts';
import type { ThumbnailChoice, ThumbnailFile, VideoThumbnailsStore } from './video-thumbnails.store.ts';

/** What is asked of the videos themselves. */
export interface ThumbnailVideos<View> {
  /** A video of a project that is not discarded. */
  find(projectId: string, videoId: string): unknown;
  /** Notes that a video was changed just now. */
  touched(projectId: string, videoId: string): void;
  /** A video as its owner sees it. @throws AppError `resource-not-found` */
  viewOf(projectId: string, videoId: string): View;
}

/** What the images of videos are made with. */
export interface VideoThumbnailsOptions<View> {
  readonly database: Database;
  readonly store: VideoThumbnailsStore;
  readonly videos: ThumbnailVideos<View>;
  readonly files: MediaFiles;
  /** Asks for the wanted frame to be made. In a transaction, and also for a video that has no media yet. */
  readonly requestFrame: (videoId: string) => void;
  readonly mark: AddSandboxWatermark;
}

const extensions: Readonly<Record<ImageType, string>> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
};

/**
 * Which image each video shows. The last wish holds: an uploaded image until a timecode is set, a timecode until an image is
 * uploaded. A file is in place before its row says so, so that a crash can only leave a file that nobody asks for; it goes with
 * its video.
 */
export class VideoThumbnailsService<View> {
  readonly #options: VideoThumbnailsOptions<View>;

  constructor(options: VideoThumbnailsOptions<View>) {
    this.#options = options;
  }

  /** Shows an uploaded image. Throws as `prepareThumbnail` does, and `resource-not-found` when the video goes meanwhile. */
  async upload(
    { projectId, environment }: ThumbnailOwner & { readonly projectId: string },
    videoId: string,
    file: UploadedFile,
  ): Promise<View> {
    const { database, store, videos, mark } = this.#options;
    const type = await prepareThumbnail(file, { environment }, mark);
    const isShown = await this.#place(videoId, file.path, extensions[type], name =>
      database.transaction(() => {
        if (videos.find(projectId, videoId) === undefined) return { isShown: false };
        const shown = store.showUpload(videoId, name);
        if (shown.isShown) videos.touched(projectId, videoId);
        return shown;
      }),
    );
    if (!isShown) throw gone();
    return videos.viewOf(projectId, videoId);
  }

  /** Wants the frame at a timecode from now on; it is shown as soon as it has been made. */
  pick(projectId: string, videoId: string, timecode: string): View {
    const { database, store, videos, requestFrame } = this.#options;
    database.transaction(() => {
      if (videos.find(projectId, videoId) === undefined || !store.requestTimecode(videoId, timecode))
        throw gone();
      videos.touched(projectId, videoId);
      requestFrame(videoId);
    });
    return videos.viewOf(projectId, videoId);
  }

  /** The image that a video shows; for delivery. */
  fileOf(videoId: string): ThumbnailFile | undefined {
    return this.#options.store.fileOf(videoId);
  }

  /** What the owner wanted last; for the work on videos. */
  choiceOf(videoId: string): ThumbnailChoice | undefined {
    return this.#options.store.choiceOf(videoId);
  }

  /**
   * Shows a frame that was made, unless something else has been wanted since.
   *
   * @param frame `file`: path of a finished JPEG, which is moved away when it is shown; `timecode`: as it was wanted, undefined
   *   for the default frame
   * @returns whether it is shown
   */
  frameMade(
    videoId: string,
    frame: { readonly file: string; readonly timecode: string | undefined },
  ): Promise<boolean> {
    return this.#place(videoId, frame.file, 'jpg', name =>
      this.#options.store.showFrame(videoId, name, frame.timecode),
    );
  }

  /** Moves a file into the video's folder, and out again when `show` does not take it. */
  async #place(
    videoId: string,
    from: string,
    extension: string,
    show: (name: string) => ReturnType<VideoThumbnailsStore['showFrame']>,
  ): Promise<boolean> {
    const { files } = this.#options;
    const name = `thumbnail-${newUuid()}.${extension}`;
    await files.publish(from, files.video(videoId, name));
    let unusedFile: string | undefined = name;
    try {
      const shown = show(name);
      if (shown.isShown) unusedFile = shown.before;
      return shown.isShown;
    } finally {
      if (unusedFile !== undefined) await this.#remove(videoId, unusedFile);
    }
  }

  async #remove(videoId: string, name: string): Promise<void> {
    const { files } = this.#options;
    await rm(files.video(videoId, name), { force: true });
    // The folder of a video that was deleted meanwhile came back with the file; any other one is not empty.
    await rmdir(files.video(videoId)).catch(() => {});
  }
}

function gone(): AppError {
  return new AppError('resource-not-found', undefined, { details: { name: 'videoId' } });
}
