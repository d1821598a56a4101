import { newUuid } from '../../../../shared/ids.ts';
import type { MediaFiles } from '../../../../storage/media-files.ts';
import { replaceFile } from '../../../../storage/replace-file.ts';
import type {
  ThumbnailChoice,
  ThumbnailFile,
  ThumbnailUpdate,
  VideoThumbnailsStore,
} from './video-thumbnails.store.ts';

export class VideoThumbnailFiles {
  readonly #store: VideoThumbnailsStore;
  readonly #files: MediaFiles;

  constructor(store: VideoThumbnailsStore, files: MediaFiles) {
    this.#store = store;
    this.#files = files;
  }

  fileOf(videoId: string): Promise<ThumbnailFile | undefined> {
    return this.#store.fileOf(videoId);
  }

  choiceOf(videoId: string): Promise<ThumbnailChoice | undefined> {
    return this.#store.choiceOf(videoId);
  }

  /** Moves a finished JPEG away when it is shown. `timecode` is undefined for the default frame. */
  showFrame(
    videoId: string,
    frame: { readonly file: string; readonly timecode: string | undefined },
  ): Promise<boolean> {
    return this.replace(videoId, frame.file, 'jpg', name =>
      this.#store.showFrame(videoId, name, frame.timecode),
    );
  }

  async replace(
    videoId: string,
    from: string,
    extension: string,
    show: (name: string) => Promise<ThumbnailUpdate>,
  ): Promise<boolean> {
    const name = `thumbnail-${newUuid()}.${extension}`;
    let isShown = false;
    await replaceFile(this.#files, { from, folder: this.#files.video(videoId), name }, async () => {
      const update = await show(name);
      isShown = update.isShown;
      return update.isShown ? update.replacedFile : name;
    });
    return isShown;
  }
}
