import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { UploadedFile } from '../../http/route.ts';
import { readUploadedImage, thumbnailImage } from '../../http/uploaded-image.ts';

/** Images of live streams on disk: `live/<liveStreamId>/thumbnail` below the data folder. */
export class ThumbnailFiles {
  readonly #dataDir: string;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** Where a live stream's image is, if it has one. */
  pathOf(liveStreamId: string): string {
    return join(this.#dataDir, 'live', liveStreamId, 'thumbnail');
  }

  /**
   * Puts a received image in the place of the old one.
   *
   * @returns its media type, as its bytes tell it
   * @throws AppError of the `uploaded-file-` codes when it is no image that may be a thumbnail
   */
  async put(liveStreamId: string, file: UploadedFile): Promise<string> {
    const image = await readUploadedImage(file, thumbnailImage);
    const path = this.pathOf(liveStreamId);
    await mkdir(dirname(path), { recursive: true });
    // The bytes must be on the disk before the name points at them.
    const handle = await open(file.path, 'r+');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(file.path, path);
    return image.type;
  }

  /** Removes a live stream's image. */
  async remove(liveStreamId: string): Promise<void> {
    await rm(this.pathOf(liveStreamId), { force: true });
  }

  /** Removes a live stream's folder. */
  async removeAll(liveStreamId: string): Promise<void> {
    await rm(dirname(this.pathOf(liveStreamId)), { recursive: true, force: true });
  }
}
