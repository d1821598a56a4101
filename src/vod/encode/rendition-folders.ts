import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { namesIn } from '../../storage/folder-names.ts';
import type { MediaFiles } from '../../storage/media-files.ts';
import type { EncodingState } from '../encoding-repository.ts';

const prefix = 'hls-';
/** Generations count whole seconds since this time. */
const epochMs = Date.UTC(2024, 0, 1);

/**
 * Manages the folders in a video's folder that renditions are written to: one `hls-<generation>` per run of a job. An interrupted run
 * leaves an unused folder, which the next job of the video removes.
 */
export class RenditionFolders {
  readonly #files: MediaFiles;
  #lastGeneration = 0;

  constructor(files: MediaFiles) {
    this.#files = files;
  }

  /** Creates a folder with a generation that is unique in this server. */
  async make(videoId: string, nowMs: number): Promise<{ generation: number; folder: string; name: string }> {
    const generation = Math.max(this.#lastGeneration + 1, Math.floor((nowMs - epochMs) / 1000));
    this.#lastGeneration = generation;
    const name = `${prefix}${generation}`;
    const folder = this.#files.video(videoId, name);
    await mkdir(folder, { recursive: true });
    return { generation, folder, name };
  }

  /** Runs work that writes to a video's folders, and removes unused folders before it and after it fails. */
  async during(
    videoId: string,
    stateOf: () => EncodingState | undefined,
    work: () => Promise<void>,
  ): Promise<void> {
    await this.removeUnused(videoId, stateOf());
    try {
      await work();
    } catch (error) {
      await this.removeUnused(videoId, stateOf()).catch(() => {});
      throw error;
    }
  }

  /** Removes folders without a finished rendition. No job of the video may be writing to one. */
  async removeUnused(videoId: string, state: EncodingState | undefined): Promise<void> {
    const used = new Set(state?.renditions.map(({ file }) => (file === undefined ? '' : dirname(file))));
    for (const name of await namesIn(this.#files.video(videoId))) {
      if (!name.startsWith(prefix) || used.has(name)) continue;
      await rm(join(this.#files.video(videoId), name), { recursive: true, force: true, maxRetries: 3 });
    }
  }
}
