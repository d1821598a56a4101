import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { namesIn } from '../../storage/folder-names.ts';
import type { MediaFiles } from '../../storage/media-files.ts';
import type { EncodingState } from '../encoding-repository.ts';

const prefix = 'hls-';
/** Generations count whole seconds since this time. */
const epochMs = Date.UTC(2024, 0, 1);

/** Each run writes to its own `hls-<generation>`. The next job removes those of interrupted runs. */
export class RenditionFolders {
  readonly #files: MediaFiles;
  #lastGeneration = 0;

  constructor(files: MediaFiles) {
    this.#files = files;
  }

  async make(videoId: string, nowMs: number): Promise<{ generation: number; folder: string; name: string }> {
    const generation = Math.max(this.#lastGeneration + 1, Math.floor((nowMs - epochMs) / 1000));
    this.#lastGeneration = generation;
    const name = `${prefix}${generation}`;
    const folder = this.#files.video(videoId, name);
    await mkdir(folder, { recursive: true });
    return { generation, folder, name };
  }

  /** Removes unused folders before the work and after it fails. */
  async during(
    videoId: string,
    stateOf: () => Promise<EncodingState | undefined>,
    work: () => Promise<void>,
  ): Promise<void> {
    await this.removeUnused(videoId, await stateOf());
    try {
      await work();
    } catch (error) {
      await stateOf()
        .then(state => this.removeUnused(videoId, state))
        .catch(() => {});
      throw error;
    }
  }

  /** No job of the video may be writing to one. */
  async removeUnused(videoId: string, state: EncodingState | undefined): Promise<void> {
    const used = new Set(state?.renditions.map(({ file }) => (file === undefined ? '' : dirname(file))));
    for (const name of await namesIn(this.#files.video(videoId))) {
      if (!name.startsWith(prefix) || used.has(name)) continue;
      await rm(join(this.#files.video(videoId), name), { recursive: true, force: true, maxRetries: 3 });
    }
  }
}
