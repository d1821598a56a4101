import { copyFileSync, linkSync, mkdirSync, rmSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileError } from '../../http/bodies/file-body.ts';
import type { ImageInfo } from '../../http/bodies/image-file.ts';
import { type ImageRules, readUploadedImage } from '../../http/bodies/uploaded-image.ts';
import type { FileAnswer, UploadedFile } from '../../http/routing/route.ts';
import { type Clock, formatAtom } from '../../shared/clock.ts';
import { AppError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { MediaFiles } from '../../storage/media-files.ts';
import type { Watermark } from './watermark.ts';
import type { WatermarkView } from './watermarks.schema.ts';
import type { WatermarksStore } from './watermarks.store.ts';

/** Images that may be watermarks: as wide as the widest picture that is made, and a bit. */
export const watermarkImage: ImageRules = {
  types: ['image/jpeg', 'image/png'],
  maxBytes: 8 * 1_024 * 1_024,
  maxSidePixels: 4_096,
  wrongTypeTitle: 'Only [jpeg, jpg, JPG, JPEG, png, PNG] extensions are supported.',
};

/** What watermarks are kept with. */
export interface WatermarksOptions {
  readonly store: WatermarksStore;
  readonly files: MediaFiles;
  /**
   * Tells whether an image file can be decoded; one that cannot would fail every encode later.
   *
   * @throws AppError `images-busy`; `uploaded-file-invalid-file` when it has too many pixels
   */
  readonly canDecode: (path: string, image: ImageInfo) => Promise<boolean>;
  readonly clock: Clock;
}

/**
 * What a caller can do with watermarks. A file is there before its row and goes after it, so that a crash can only leave a file in
 * `watermarks/` that has no row, which nothing looks for.
 */
export class WatermarksService {
  readonly #options: WatermarksOptions;

  constructor(options: WatermarksOptions) {
    this.#options = options;
  }

  /** A watermark of a project. */
  find(projectId: string, watermarkId: string): Watermark | undefined {
    return this.#options.store.find(projectId, watermarkId);
  }

  /** Whether a project has a watermark. */
  exists(projectId: string, watermarkId: string): boolean {
    return this.find(projectId, watermarkId) !== undefined;
  }

  /** One page of a project's watermarks by their creation, and how many there are on all pages. */
  list(...query: Parameters<WatermarksStore['list']>): { views: WatermarkView[]; total: number } {
    const { watermarks, total } = this.#options.store.list(...query);
    return { views: watermarks.map(viewOf), total };
  }

  /**
   * Keeps a received image.
   *
   * @throws AppError of the `uploaded-file-` codes when it can be no watermark
   */
  async create(projectId: string, file: UploadedFile): Promise<WatermarkView> {
    const { store, files, canDecode, clock } = this.#options;
    const image = await readUploadedImage(file, watermarkImage);
    const { type, width, height } = image;
    if (!(await canDecode(file.path, image)))
      throw fileError('uploaded-file-invalid-file', 'The image is damaged.');
    const watermark: Watermark = {
      watermarkId: newId('watermark_'),
      projectId,
      mediaType: type,
      width,
      height,
      createdAtMs: clock.nowMs(),
    };
    const path = files.watermark(watermark.watermarkId);
    await files.publish(file.path, path);
    try {
      store.add(watermark);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
    return viewOf(watermark);
  }

  /**
   * Opens the image of a watermark, as it was uploaded.
   *
   * @throws AppError `resource-not-found` when its file is gone
   */
  async image({ watermarkId, mediaType }: Watermark): Promise<FileAnswer> {
    try {
      const file = await open(this.#options.files.watermark(watermarkId));
      try {
        const { size } = await file.stat();
        return { contentType: mediaType, bytes: size, stream: file.createReadStream() };
      } catch (error) {
        await file.close();
        throw error;
      }
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
      throw new AppError('resource-not-found', undefined, { cause, details: { name: 'watermarkId' } });
    }
  }

  /** Forgets a watermark. Videos that were made with it keep it. */
  async remove({ projectId, watermarkId }: Watermark): Promise<void> {
    this.#options.store.remove(projectId, watermarkId);
    await rm(this.#options.files.watermark(watermarkId), { force: true });
  }

  /**
   * Gives a video its own copy, the file `watermark` of its folder, which stays when the watermark is deleted. Without an `await`,
   * so that nothing comes between finding the watermark and copying it.
   */
  copyFor(videoId: string, watermarkId: string): void {
    const from = this.#options.files.watermark(watermarkId);
    const to = this.#options.files.video(videoId, 'watermark');
    mkdirSync(dirname(to), { recursive: true });
    rmSync(to, { force: true });
    try {
      linkSync(from, to);
    } catch {
      // Not every file system has links.
      copyFileSync(from, to);
    }
  }
}

function viewOf({ watermarkId, createdAtMs }: Watermark): WatermarkView {
  return { watermarkId, createdAt: formatAtom(createdAtMs) };
}
