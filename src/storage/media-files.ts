import { renameSync } from 'node:fs';
import { mkdir, open, rename, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError, systemCodeOf } from '../shared/errors.ts';
import { joinBelow } from '../shared/files/safe-path.ts';
import { newUuid } from '../shared/ids.ts';

/** A folder whose entries are named by ids. */
export type MediaRoot = 'vod' | 'uploads' | 'live' | 'players' | 'watermarks';

/** Prefix of files and folders that are being removed. */
export const removedPrefix = '.removed-';

const publishAttempts = 3;

/** Frees disk space as far as possible. `missing` returns the bytes that are still needed, 0 or less when there are enough. */
export type FreeDiskSpace = (missing: () => Promise<number>) => Promise<void>;

/** Space that can be freed when the disk is short: discarded videos. */
interface ReclaimableSpace {
  readonly makeRoom: FreeDiskSpace;
  /** Returns true if {@link makeRoom} could free this many bytes. */
  canMakeRoom(bytes: number): boolean;
}

/**
 * Knows the layout of media in the data folder, and publishes files atomically. Paths are always below the data folder, and are not created
 * by asking for them.
 *
 * - `vod/<videoId>/`: `source`, renditions, `mp4/source.mp4`, images, captions, chapters
 * - `uploads/<videoId>/`: chunks of an unfinished upload
 * - `work/<uuid>/`: temporary folder of a job, removed at the start
 * - `live/<liveStreamId>/`: the image of a live stream; `live/<liveStreamId>/<broadcastId>/`: segments for rewinding
 * - `watermarks/<watermarkId>`: images to burn in
 * - `players/<playerId>/`: the logo of a player theme
 *
 * Entries named `.removed-<uuid>` are being removed.
 */
export class MediaFiles {
  readonly #root: string;
  #reclaimable: ReclaimableSpace | undefined;

  constructor(dataDir: string) {
    this.#root = dataDir;
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

  /** The uploaded file of a video. */
  source(videoId: string): string {
    return this.video(videoId, 'source');
  }

  /** Folder of a video's upload chunks. */
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

  /** Runs work with a temporary folder. */
  async inWorkFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
    const folder = joinBelow(this.#root, 'work', newUuid());
    try {
      await mkdir(folder, { recursive: true });
      return await work(folder);
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  /** Removes temporary folders of interrupted jobs. Must run before any job. */
  async emptyWork(): Promise<void> {
    await rm(joinBelow(this.#root, 'work'), { recursive: true, force: true, maxRetries: 3 });
  }

  root(kind: MediaRoot): string {
    return joinBelow(this.#root, kind);
  }

  /** Syncs a finished file to disk and moves it into place atomically. */
  async publish(from: string, to: string): Promise<void> {
    await syncFile(from);
    for (let attempt = 1; ; attempt += 1) {
      await mkdir(dirname(to), { recursive: true });
      try {
        return await rename(from, to);
      } catch (error) {
        // The folder may have been removed meanwhile.
        if (attempt === publishAttempts || systemCodeOf(error) !== 'ENOENT') throw error;
      }
    }
  }

  /**
   * Hides a file or folder by renaming it, to be removed later. Synchronous, so that nothing can happen between a check that it is unused
   * and this call.
   *
   * @returns its new path, or undefined when it is missing
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

  /** Removes all files of a video, including upload chunks. */
  async removeVideo(videoId: string): Promise<void> {
    const removed = [this.video(videoId), this.upload(videoId)].map(path => this.renameForRemoval(path));
    await Promise.all(removed.map(path => path && rm(path, { recursive: true, force: true, maxRetries: 3 })));
  }

  /** Ensures that `bytes` can be written while `minFreeBytes` stay free. Reclaims space if needed. @throws AppError `disk-full` */
  async ensureFreeSpace(bytes: number, minFreeBytes: number): Promise<void> {
    let free = await this.freeBytes();
    if (free - bytes >= minFreeBytes) return;
    await this.freeSpace(async () => bytes + minFreeBytes - (await this.freeBytes()));
    free = await this.freeBytes();
    if (free - bytes < minFreeBytes) throw diskFull(bytes, free);
  }

  /**
   * Checks that announced bytes can be stored. Reclaims no space for them, because a sender may never send them. Call
   * {@link ensureFreeSpace} while they arrive.
   *
   * @throws AppError `disk-full`
   */
  async expectRoom(bytes: number, minFreeBytes: number): Promise<void> {
    await this.ensureFreeSpace(0, minFreeBytes);
    const free = await this.freeBytes();
    const missing = bytes + minFreeBytes - free;
    if (missing > 0 && this.#reclaimable?.canMakeRoom(missing) !== true) throw diskFull(bytes, free);
  }

  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.#root);
    return bavail * bsize;
  }
}

function diskFull(neededBytes: number, freeBytes: number): AppError {
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`;
  return new AppError('disk-full', `${megabytes(neededBytes)} are needed, ${megabytes(freeBytes)} are free`);
}

/** Syncs the content of a file to disk. */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Syncs the directory entry of a file to disk. */
export async function syncFolderOf(path: string): Promise<void> {
  const handle = await open(dirname(path), 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
