import { fileError } from '../../../http/bodies/file-body.ts';
import type { ImageInfo } from '../../../http/bodies/image-file.ts';
import { type ImageRules, readUploadedImage } from '../../../http/bodies/uploaded-image.ts';
import { notFoundError } from '../../../http/routing/project-resource.ts';
import type { FileAnswer, UploadedFile } from '../../../http/routing/route.ts';
import { attributeError } from '../../../http/routing/validation.ts';
import { type Clock, formatAtom } from '../../../shared/clock.ts';
import { mayBeCommitted, systemCodeOf } from '../../../shared/errors.ts';
import { newId } from '../../../shared/ids.ts';
import { type ListResult, mapList } from '../../../shared/list-page.ts';
import type { MediaFiles } from '../../../storage/media-files.ts';
import { removeFileIn } from '../../../storage/replace-file.ts';
import { streamStored } from '../../../storage/stream-stored.ts';
import type { Watermark } from './watermark.ts';
import { maxWatermarkNameChars, type WatermarkView } from './watermarks.schema.ts';
import type { WatermarksStore } from './watermarks.store.ts';

/** Rules for images up to a little wider than the widest rendition. */
export const watermarkImage: ImageRules = {
  types: ['image/jpeg', 'image/png'],
  maxBytes: 8 * 1_024 * 1_024,
  maxSidePixels: 4_096,
  wrongTypeTitle: 'Only [jpeg, jpg, JPG, JPEG, png, PNG] extensions are supported.',
};

const copyName = 'watermark';

export interface WatermarksOptions {
  readonly store: WatermarksStore;
  readonly files: MediaFiles;
  /** An image that cannot be decoded would fail every encode later. */
  readonly canDecode: (path: string, image: ImageInfo) => Promise<boolean>;
  readonly clock: Clock;
}

/** A file is written before its row and deleted after it: a crash can only leave a file without a row, for the sweep. */
export class WatermarksService {
  readonly #options: WatermarksOptions;

  constructor(options: WatermarksOptions) {
    this.#options = options;
  }

  find(projectId: string, watermarkId: string): Promise<Watermark | undefined> {
    return this.#options.store.find(projectId, watermarkId);
  }

  async exists(projectId: string, watermarkId: string): Promise<boolean> {
    return (await this.find(projectId, watermarkId)) !== undefined;
  }

  async list(...query: Parameters<WatermarksStore['list']>): Promise<ListResult<WatermarkView>> {
    return mapList(await this.#options.store.list(...query), viewOf);
  }

  /** `name` is a form field. */
  async create(projectId: string, file: UploadedFile): Promise<WatermarkView> {
    const { store, files, canDecode, clock } = this.#options;
    const name = file.fields.get('name')?.trim();
    if (name !== undefined && name.length > maxWatermarkNameChars) {
      const detail = `This value should not contain more than ${maxWatermarkNameChars} characters.`;
      throw attributeError('name', detail);
    }
    const image = await readUploadedImage(file, watermarkImage);
    const { type, width, height } = image;
    if (!(await canDecode(file.path, image))) {
      throw fileError('uploaded-file-invalid-file', 'The image is damaged.');
    }
    const watermark: Watermark = {
      watermarkId: newId('watermark_'),
      projectId,
      name: name || undefined,
      mediaType: type,
      width,
      height,
      createdAtMs: clock.nowMs(),
    };
    const path = files.watermark(watermark.watermarkId);
    await files.publish(file.path, path);
    try {
      await store.add(watermark);
    } catch (error) {
      if (!mayBeCommitted(error)) await files.storage.remove(path);
      throw error;
    }
    return viewOf(watermark);
  }

  async change(
    watermark: Watermark,
    changes: { readonly name?: string | null | undefined },
  ): Promise<WatermarkView> {
    const { projectId, watermarkId } = watermark;
    if (changes.name === undefined) return viewOf(watermark);
    const name = changes.name || undefined;
    if (!(await this.#options.store.rename(projectId, watermarkId, name))) throw notFoundError('watermarkId');
    return viewOf({ ...watermark, name });
  }

  async image({ watermarkId, mediaType }: Watermark): Promise<FileAnswer> {
    const { storage } = this.#options.files;
    const path = this.#options.files.watermark(watermarkId);
    // A watermark has one image for good.
    const stored = await storage.find(path);
    if (stored === undefined) throw notFoundError('watermarkId');
    const missing = (cause: unknown) => notFoundError('watermarkId', cause);
    return {
      contentType: mediaType,
      bytes: stored.bytes,
      etag: stored.etag,
      open: range => streamStored(storage, path, range, missing),
    };
  }

  async remove({ projectId, watermarkId }: Watermark): Promise<void> {
    await this.#options.store.remove(projectId, watermarkId);
    const { files } = this.#options;
    await files.storage.remove(files.watermark(watermarkId));
  }

  /** Copies the image for a new video. Returns false when the watermark was deleted meanwhile. */
  async copyFor(videoId: string, watermarkId: string): Promise<boolean> {
    const { files } = this.#options;
    try {
      await files.storage.copy(files.watermark(watermarkId), files.video(videoId, copyName));
      return true;
    } catch (error) {
      await this.removeCopy(videoId);
      if (systemCodeOf(error) === 'ENOENT') return false;
      throw error;
    }
  }

  /** Call this when the video was not created. */
  async removeCopy(videoId: string): Promise<void> {
    const { files } = this.#options;
    await removeFileIn(files, files.video(videoId), copyName);
  }
}

function viewOf({ watermarkId, createdAtMs, name }: Watermark): WatermarkView {
  return { watermarkId, createdAt: formatAtom(createdAtMs), name };
}
