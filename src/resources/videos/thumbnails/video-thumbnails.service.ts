import type { ImageType } from '../../../http/bodies/image-file.ts';
import { notFoundError } from '../../../http/routing/project-resource.ts';
import type { UploadedFile } from '../../../http/routing/route.ts';
import type { Database } from '../../../store/database.ts';
import { type AddSandboxWatermark, prepareThumbnail, type ThumbnailOwner } from './prepare-thumbnail.ts';
import type { VideoThumbnailFiles } from './video-thumbnail-files.ts';
import type { VideoThumbnailsStore } from './video-thumbnails.store.ts';

export interface ThumbnailVideos<View> {
  find(projectId: string, videoId: string): unknown;
  touch(projectId: string, videoId: string): void;
  viewOf(projectId: string, videoId: string): View;
}

interface VideoThumbnailsOptions<View> {
  readonly database: Database;
  readonly store: VideoThumbnailsStore;
  readonly videos: ThumbnailVideos<View>;
  readonly thumbnailFiles: VideoThumbnailFiles;
  /** Called in a transaction, also for a video without media. */
  readonly requestFrame: (videoId: string) => void;
  readonly addWatermark: AddSandboxWatermark;
}

const extensions: Readonly<Record<ImageType, string>> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
};

/** The last choice wins: an uploaded image, or the frame at a timecode. */
export class VideoThumbnailsService<View> {
  readonly #options: VideoThumbnailsOptions<View>;

  constructor(options: VideoThumbnailsOptions<View>) {
    this.#options = options;
  }

  async upload(
    { projectId, environment }: ThumbnailOwner & { readonly projectId: string },
    videoId: string,
    file: UploadedFile,
  ): Promise<View> {
    const { database, store, thumbnailFiles, videos, addWatermark } = this.#options;
    const type = await prepareThumbnail(file, { environment }, addWatermark);
    const isShown = await thumbnailFiles.replace(videoId, file.path, extensions[type], name =>
      database.transaction(() => {
        if (videos.find(projectId, videoId) === undefined) return { isShown: false };
        const update = store.showUpload(videoId, name);
        if (update.isShown) videos.touch(projectId, videoId);
        return update;
      }),
    );
    if (!isShown) throw notFoundError('videoId');
    return videos.viewOf(projectId, videoId);
  }

  pick(projectId: string, videoId: string, timecode: string): View {
    const { database, store, videos, requestFrame } = this.#options;
    database.transaction(() => {
      if (videos.find(projectId, videoId) === undefined) throw notFoundError('videoId');
      if (!store.requestTimecode(videoId, timecode)) throw notFoundError('videoId');
      videos.touch(projectId, videoId);
      requestFrame(videoId);
    });
    return videos.viewOf(projectId, videoId);
  }
}
