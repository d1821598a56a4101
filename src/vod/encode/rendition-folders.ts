import { randomInt } from 'node:crypto';
import { mkdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RunningJob } from '../../jobs/job.ts';
import type { AdditionalCodec } from '../../shared/additional-codecs.ts';
import { namesIn } from '../../storage/folder-names.ts';
import type { MediaFiles } from '../../storage/media-files.ts';
import type { EncodingRepository, EncodingState } from '../encoding-repository.ts';

/** Jobs that work on the same video at the same time have folders of different kinds. */
type FolderKind = 'hls' | AdditionalCodec;
/** Generations count the seconds since this time, with three random digits that tell nodes apart. */
const epochMs = Date.UTC(2024, 0, 1);
const randomNumbers = 1000;

/**
 * Folders of renditions. Each run writes to its own folder on this node, such as `hls-<generation>`. The next job
 * removes those of interrupted runs.
 */
export class RenditionFolders {
  readonly #files: MediaFiles;
  /** Names by video and kind, of running jobs. */
  readonly #made = new Map<string, Set<string>>();
  #lastGeneration = 0;

  constructor(files: MediaFiles) {
    this.#files = files;
  }

  async make(
    videoId: string,
    nowMs: number,
    kind: FolderKind = 'hls',
  ): Promise<{ generation: number; folder: string; name: string }> {
    const seconds = Math.floor((nowMs - epochMs) / 1000);
    const generation = Math.max(this.#lastGeneration + 1, seconds * randomNumbers + randomInt(randomNumbers));
    this.#lastGeneration = generation;
    const name = `${kind}-${generation}`;
    const folder = this.#files.video(videoId, name);
    this.#made.get(`${videoId}/${kind}`)?.add(name);
    await mkdir(folder, { recursive: true });
    return { generation, folder, name };
  }

  /** Makes the files of a folder durable. Call it before a row names them. */
  async keep(videoId: string, folderName: string, signal?: AbortSignal): Promise<void> {
    const folder = this.#files.video(videoId, folderName);
    const paths = (await namesIn(folder)).map(name => join(folder, name));
    await this.#files.storage.keep(paths, signal);
    await this.#removeEmpty(videoId, folderName);
  }

  /** Removes a folder that was not kept. The next job of the video may run on another server. */
  async discard(videoId: string, folderName: string): Promise<void> {
    await rm(this.#files.video(videoId, folderName), { recursive: true, force: true });
    await this.#removeEmpty(videoId, folderName);
  }

  /** Removes folders that became empty; a bucket has none. */
  async #removeEmpty(videoId: string, folderName: string): Promise<void> {
    if (this.#files.storage.kind === 'data-folder') return;
    for (const path of [this.#files.video(videoId, folderName), this.#files.video(videoId)]) {
      await rmdir(path).catch(() => {});
    }
  }

  /**
   * Removes folders of earlier attempts before the work, and its own after it fails: it may have failed because another server has
   * the job now, and stores folders of the same video.
   */
  async during(
    job: RunningJob,
    records: EncodingRepository,
    work: () => Promise<void>,
    kind: FolderKind = 'hls',
  ): Promise<void> {
    const { subjectId: videoId } = job;
    const found = await this.list(videoId, kind);
    // The server may have been paused meanwhile. Folders that were found while the job is still its own are not
    // those of a later attempt, however late they are removed.
    const before = await records.transaction(async transaction => {
      await job.ensureOwned(transaction);
      return records.state(videoId, transaction);
    });
    await this.removeUnused(videoId, found, before);
    const made = new Set<string>();
    this.#made.set(`${videoId}/${kind}`, made);
    try {
      await work();
    } catch (error) {
      await records
        .state(videoId)
        .then(state => this.removeUnused(videoId, made, state))
        .catch(() => {});
      throw error;
    } finally {
      this.#made.delete(`${videoId}/${kind}`);
    }
  }

  /** Names of the folders of a video. */
  async list(videoId: string, kind: FolderKind = 'hls'): Promise<string[]> {
    const names: string[] = [];
    for await (const name of this.#files.storage.listFolders(this.#files.video(videoId))) {
      if (name.startsWith(`${kind}-`)) names.push(name);
    }
    return names;
  }

  /** @param state read after `names` were listed, by the server that may change the video */
  async removeUnused(
    videoId: string,
    names: Iterable<string>,
    state: EncodingState | undefined,
  ): Promise<void> {
    const stored = [...(state?.renditions ?? []), ...(state?.codecRenditions ?? [])];
    const used = new Set(stored.map(({ file }) => (file === undefined ? '' : dirname(file))));
    for (const name of names) {
      if (!used.has(name)) await this.#files.storage.remove(this.#files.video(videoId, name));
    }
  }
}
