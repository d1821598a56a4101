import { rm, rmdir } from 'node:fs/promises';
import { newUuid } from '../../../shared/ids.ts';
import type { MediaFiles } from '../../../storage/media-files.ts';
import type { ThumbnailChoice, ThumbnailFile, VideoThumbnailsStore } from './video-thumbnails.store.ts';

/**
 * The files of the images that videos show. A file is in place before its row names it: a crash leaves at most a file that nothing
 * refers to, which is removed with its video.
 */
export class VideoThumbnailFiles {
  readonly #store: VideoThumbnailsStore;
  readonly #files: MediaFiles;

  constructor(store: VideoThumbnailsStore, files: MediaFiles) {
    this.#store = store;
    this.#files = files;
  }

  /** The image that a video shows. */
  fileOf(videoId: string): ThumbnailFile | undefined {
    return this.#store.fileOf(videoId);
  }

  /** The owner's latest request. */
  choiceOf(videoId: string): ThumbnailChoice | undefined {
    return this.#store.choiceOf(videoId);
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
    return this.place(videoId, frame.file, 'jpg', name =>
      this.#store.showFrame(videoId, name, frame.timecode),
    );
  }

  /** Moves a file into the video's folder, and out again when `show` does not take it. */
  async place(
    videoId: string,
    from: string,
    extension: string,
    show: (name: string) => ReturnType<VideoThumbnailsStore['showFrame']>,
  ): Promise<boolean> {
    const files = this.#files;
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
    const files = this.#files;
    await rm(files.video(videoId, name), { force: true });
    // The folder of a video that was deleted meanwhile came back with the file; any other one is not empty.
    await rmdir(files.video(videoId)).catch(() => {});
  }
}
