import { newUuid } from '../../../shared/ids.ts';
import type { MediaFiles } from '../../../storage/media-files.ts';
import { replaceFile } from '../../../storage/replace-file.ts';
import type {
  ThumbnailChoice,
  ThumbnailFile,
  ThumbnailUpdate,
  VideoThumbnailsStore,
} from './video-thumbnails.store.ts';

/** The files of the thumbnails of videos. */
export class VideoThumbnailFiles {
  readonly #store: VideoThumbnailsStore;
  readonly #files: MediaFiles;

  constructor(store: VideoThumbnailsStore, files: MediaFiles) {
    this.#store = store;
    this.#files = files;
  }

  /** The current image of a video. */
  fileOf(videoId: string): ThumbnailFile | undefined {
    return this.#store.fileOf(videoId);
  }

  /** The owner's last choice. */
  choiceOf(videoId: string): ThumbnailChoice | undefined {
    return this.#store.choiceOf(videoId);
  }

  /**
   * Shows an extracted frame, unless the owner chose something else meanwhile.
   *
   * @param frame `file`: path of a finished JPEG, which is moved away when it is shown; `timecode`: as the owner sent it, undefined
   *   for the default frame
   * @returns whether it is shown
   */
  showFrame(
    videoId: string,
    frame: { readonly file: string; readonly timecode: string | undefined },
  ): Promise<boolean> {
    return this.replace(videoId, frame.file, 'jpg', name =>
      this.#store.showFrame(videoId, name, frame.timecode),
    );
  }

  /** Moves an image into the video's folder, unless `show` refuses it. Returns whether it is shown. */
  async replace(
    videoId: string,
    from: string,
    extension: string,
    show: (name: string) => ThumbnailUpdate,
  ): Promise<boolean> {
    const name = `thumbnail-${newUuid()}.${extension}`;
    let isShown = false;
    await replaceFile(this.#files, { from, folder: this.#files.video(videoId), name }, () => {
      const update = show(name);
      isShown = update.isShown;
      return update.isShown ? update.replacedFile : name;
    });
    return isShown;
  }
}
