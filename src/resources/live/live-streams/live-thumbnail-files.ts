import type { UploadedFile } from '../../../http/routing/route.ts';
import type { MediaFiles } from '../../../storage/media-files.ts';
import {
  type AddSandboxWatermark,
  prepareThumbnail,
  type ThumbnailOwner,
} from '../../videos/videos/thumbnails/prepare-thumbnail.ts';

/** `live/<liveStreamId>/thumbnail` below the data folder. */
export class LiveThumbnailFiles {
  readonly #media: MediaFiles;
  readonly #mark: AddSandboxWatermark;

  constructor(media: MediaFiles, mark: AddSandboxWatermark) {
    this.#media = media;
    this.#mark = mark;
  }

  pathOf(liveStreamId: string): string {
    return this.#media.live(liveStreamId, 'thumbnail');
  }

  async put(liveStreamId: string, file: UploadedFile, owner: ThumbnailOwner): Promise<string> {
    const type = await prepareThumbnail(file, owner, this.#mark);
    await this.#media.publish(file.path, this.pathOf(liveStreamId));
    return type;
  }

  async remove(liveStreamId: string): Promise<void> {
    await this.#media.storage.remove(this.pathOf(liveStreamId));
  }

  async removeAll(liveStreamId: string): Promise<void> {
    await this.#media.storage.remove(this.#media.live(liveStreamId));
  }
}
