import { renameSync } from 'node:fs';
import { mkdir, open, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError, systemCodeOf } from '../shared/errors.ts';
import { joinBelow } from '../shared/files/safe-path.ts';
import { newUuid } from '../shared/ids.ts';
import { DataFolderParts } from './data-folder-parts.ts';
import { DataFolderStorage } from './data-folder-storage.ts';
import { namesIn } from './folder-names.ts';
import type { MediaStorage } from './media-storage.ts';
import { removedPrefix } from './removed-prefix.ts';

export type MediaRoot = 'vod' | 'uploads' | 'live' | 'players' | 'watermarks';

export type FreeDiskSpace = (missing: () => Promise<number>) => Promise<void>;

interface ReclaimableSpace {
  readonly makeRoom: FreeDiskSpace;
  canMakeRoom(bytes: number): Promise<boolean>;
}

/**
 * Lays out media in the data folder and publishes files atomically. Does not create folders of returned
 * paths.
 * - `vod/<videoId>/`: `source`, renditions, `mp4/source.mp4`, images, captions, chapters
 * - `uploads/<videoId>/`: chunks of an unfinished upload
 * - `work/<uuid>/`: temporary folder of a job, removed at the start
 * - `live/<liveStreamId>/`: image; `live/<liveStreamId>/<broadcastId>/`: segments of the live window and for
 *   rewinding
 * - `watermarks/<watermarkId>`, `players/<playerId>/`: images
 * Entries named `.removed-<uuid>` are being removed.
 */
export class MediaFiles {
  readonly storage: MediaStorage;
  readonly parts: DataFolderParts;
  readonly #root: string;
  #reclaimable: ReclaimableSpace | undefined;

  /** @param storage of finished files. Uploads, work folders and live media are always in the data folder. */
  constructor(
    dataDir: string,
    storage: MediaStorage = new DataFolderStorage(dataDir),
    parts = new DataFolderParts(dataDir),
  ) {
    this.#root = dataDir;
    this.storage = storage;
    this.parts = parts;
  }

  reclaimFrom(space: ReclaimableSpace): void {
    this.#reclaimable = space;
  }

  async freeSpace(missing: () => Promise<number>): Promise<void> {
    await this.#reclaimable?.makeRoom(missing);
  }

  get folder(): string {
    return this.#root;
  }

  video(videoId: string, ...parts: string[]): string {
    return joinBelow(this.#root, 'vod', videoId, ...parts);
  }

  source(videoId: string): string {
    return this.video(videoId, 'source');
  }

  upload(videoId: string, ...parts: string[]): string {
    return joinBelow(this.#root, 'uploads', videoId, ...parts);
  }

  watermark(watermarkId: string): string {
    return joinBelow(this.#root, 'watermarks', watermarkId);
  }

  live(liveStreamId: string, ...parts: string[]): string {
    return joinBelow(this.#root, 'live', liveStreamId, ...parts);
  }

  player(playerId: string, ...parts: string[]): string {
    return joinBelow(this.#root, 'players', playerId, ...parts);
  }

  async inWorkFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
    const folder = joinBelow(this.#root, 'work', newUuid());
    try {
      await mkdir(folder, { recursive: true });
      return await work(folder);
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  /** Must run before any job. */
  async emptyWork(): Promise<void> {
    const folder = joinBelow(this.#root, 'work');
    for (const name of await namesIn(folder))
      await rm(join(folder, name), { recursive: true, force: true, maxRetries: 3 });
  }

  root(kind: MediaRoot): string {
    return joinBelow(this.#root, kind);
  }

  publish(from: string, to: string, signal?: AbortSignal): Promise<void> {
    return this.storage.publish(from, to, signal);
  }

  /**
   * Renames an entry that is removed later, undefined when missing. Synchronous, so that nothing can happen
   * between a check that it is unused and this call.
   */
  renameForRemoval(path: string): string | undefined {
    const aside = join(dirname(path), `${removedPrefix}${newUuid()}`);
    try {
      renameSync(path, aside);
      return aside;
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  async removeVideo(videoId: string): Promise<void> {
    await Promise.all([this.video(videoId), this.upload(videoId)].map(path => this.storage.remove(path)));
  }

  /** Keeps `minFreeBytes` free, and reclaims space if needed. @throws AppError `disk-full`, `data-dir-unusable` */
  async ensureFreeSpace(bytes: number, minFreeBytes: number): Promise<void> {
    this.parts.assertIntact();
    let free = await this.freeBytes();
    if (free - bytes >= minFreeBytes) return;
    await this.freeSpace(async () => bytes + minFreeBytes - (await this.freeBytes()));
    free = await this.freeBytes();
    if (free - bytes < minFreeBytes) throw diskFull(bytes, free);
  }

  /**
   * Reclaims no space, because a sender may never send the announced bytes. Call {@link ensureFreeSpace}
   * while they arrive. @throws AppError `disk-full`, `data-dir-unusable`
   */
  async expectRoom(bytes: number, minFreeBytes: number): Promise<void> {
    this.parts.assertIntact();
    if ((await this.freeBytes()) - bytes >= minFreeBytes) return;
    await this.ensureFreeSpace(0, minFreeBytes);
    const free = await this.freeBytes();
    if (!(await this.#canHave(bytes + minFreeBytes - free))) throw diskFull(bytes, free);
  }

  /** Tells whether nothing more is accepted, although everything that may go would be removed. */
  async isFull(minFreeBytes: number): Promise<boolean> {
    return !(await this.#canHave(minFreeBytes - (await this.freeBytes())));
  }

  async #canHave(missing: number): Promise<boolean> {
    return missing <= 0 || (await this.#reclaimable?.canMakeRoom(missing)) === true;
  }

  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.#root);
    return bavail * bsize;
  }
}

export function diskFull(neededBytes: number, freeBytes: number): AppError {
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`;
  return new AppError('disk-full', `${megabytes(neededBytes)} are needed, ${megabytes(freeBytes)} are free`);
}

export async function syncFolderOf(path: string): Promise<void> {
  const handle = await open(dirname(path), 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
