import type { ImageType } from '../../../../http/bodies/image-file.ts';
import { notFoundError } from '../../../../http/routing/project-resource.ts';
import type { UploadedFile } from '../../../../http/routing/route.ts';
import type { Transaction } from '../../../../store/connection.ts';
import type { Database } from '../../../../store/database.ts';
import { type AddSandboxWatermark, prepareThumbnail, type ThumbnailOwner } from './prepare-thumbnail.ts';
import type { VideoThumbnailFiles } from './video-thumbnail-files.ts';
import type { VideoThumbnailsStore } from './video-thumbnails.store.ts';

export interface ThumbnailVideos<View> {
  find(projectId: string, videoId: string): Promise<unknown>;
  /** Returns false when the video is not there; otherwise, others wait with their changes. */
  touch(projectId: string, videoId: string, transaction: Transaction): Promise<boolean>;
  viewOf(projectId: string, videoId: string, options: { readonly hidesPrivate: boolean }): Promise<View>;
}

interface VideoThumbnailsOptions<View> {
  readonly database: Database;
  readonly store: VideoThumbnailsStore;
  readonly videos: ThumbnailVideos<View>;
  readonly thumbnailFiles: VideoThumbnailFiles;
  /** Requests a frame, also for a video without media. */
  readonly requestFrame: (videoId: string, transaction: Transaction) => Promise<void>;
  readonly addWatermark: AddSandboxWatermark;
}

const extensions: Readonly<Record<ImageType, string>> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
};

/** Thumbnails of videos. The last choice wins: an uploaded image, or the frame at a timecode. */
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
      database.transaction(async transaction => {
        if (!(await videos.touch(projectId, videoId, transaction))) return { isShown: false };
        return store.showUpload(videoId, name, transaction);
      }),
    );
    if (!isShown) throw notFoundError('videoId');
    return videos.viewOf(projectId, videoId, { hidesPrivate: false });
  }

  async pick(projectId: string, videoId: string, timecode: string): Promise<View> {
    const { database, store, videos, requestFrame } = this.#options;
    await database.transaction(async transaction => {
      if (!(await videos.touch(projectId, videoId, transaction))) throw notFoundError('videoId');
      await store.requestTimecode(videoId, timecode, transaction);
      await requestFrame(videoId, transaction);
    });
    return videos.viewOf(projectId, videoId, { hidesPrivate: false });
  }
}
