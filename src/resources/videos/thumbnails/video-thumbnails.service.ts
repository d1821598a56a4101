import type { ImageType } from '../../../http/bodies/image-file.ts';
import type { UploadedFile } from '../../../http/routing/route.ts';
import { AppError } from '../../../shared/errors.ts';
import type { Database } from '../../../store/database.ts';
import { type AddSandboxWatermark, prepareThumbnail, type ThumbnailOwner } from './prepare-thumbnail.ts';
import type { VideoThumbnailFiles } from './video-thumbnail-files.ts';
import type { VideoThumbnailsStore } from './video-thumbnails.store.ts';

/** What is asked of the videos themselves. */
export interface ThumbnailVideos<View> {
  /** A video of a project that is not discarded. */
  find(projectId: string, videoId: string): unknown;
  /** Notes that a video was changed just now. */
  touch(projectId: string, videoId: string): void;
  /** A video as its owner sees it. @throws AppError `resource-not-found` */
  viewOf(projectId: string, videoId: string): View;
}

/** What the images of videos are made with. */
export interface VideoThumbnailsOptions<View> {
  readonly database: Database;
  readonly store: VideoThumbnailsStore;
  readonly videos: ThumbnailVideos<View>;
  readonly thumbnailFiles: VideoThumbnailFiles;
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
 * The image that each video shows. The latest request wins: an uploaded image until a timecode is set, a timecode until an image
 * is uploaded.
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
    const { database, store, thumbnailFiles, videos, mark } = this.#options;
    const type = await prepareThumbnail(file, { environment }, mark);
    const isShown = await thumbnailFiles.place(videoId, file.path, extensions[type], name =>
      database.transaction(() => {
        if (videos.find(projectId, videoId) === undefined) return { isShown: false };
        const shown = store.showUpload(videoId, name);
        if (shown.isShown) videos.touch(projectId, videoId);
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
      videos.touch(projectId, videoId);
      requestFrame(videoId);
    });
    return videos.viewOf(projectId, videoId);
  }
}

function gone(): AppError {
  return new AppError('resource-not-found', undefined, { details: { name: 'videoId' } });
}
