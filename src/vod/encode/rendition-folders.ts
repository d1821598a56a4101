import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { namesIn } from '../../storage/folder-names.ts';
import type { MediaFiles } from '../../storage/media-files.ts';
import type { EncodingState } from '../encoding-repository.ts';

const prefix = 'hls-';
/** Generations are whole seconds since then. */
const epochMs = Date.UTC(2024, 0, 1);

/**
 * The folders below a video's own that renditions are written to, one for each run of a job: `hls-<generation>`. A run that a crash
 * ended leaves a folder that nothing points to; the next run of any job of the video removes it.
 */
export class RenditionFolders {
  readonly #files: MediaFiles;
  #lastGeneration = 0;

  constructor(files: MediaFiles) {
    this.#files = files;
  }

  /** Makes a folder with a generation that no other of this server has. */
  async make(videoId: string, nowMs: number): Promise<{ generation: number; folder: string; name: string }> {
    const generation = Math.max(this.#lastGeneration + 1, Math.floor((nowMs - epochMs) / 1000));
    this.#lastGeneration = generation;
    const name = `${prefix}${generation}`;
    const folder = this.#files.video(videoId, name);
    await mkdir(folder, { recursive: true });
    return { generation, folder, name };
  }

  /** Runs work that writes to a video's folders; what an earlier run has left is removed first, what this one leaves when it fails. */
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

  /** Removes the folders that no finished rendition is in. Only while no job of the video writes to one. */
  async removeUnused(videoId: string, state: EncodingState | undefined): Promise<void> {
    const used = new Set(state?.renditions.map(({ file }) => (file === undefined ? '' : dirname(file))));
    for (const name of await namesIn(this.#files.video(videoId))) {
      if (!name.startsWith(prefix) || used.has(name)) continue;
      await rm(join(this.#files.video(videoId), name), { recursive: true, force: true, maxRetries: 3 });
    }
  }
}
