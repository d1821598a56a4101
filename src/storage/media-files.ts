import { renameSync } from 'node:fs';
import { mkdir, open, rename, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError, systemCodeOf } from '../shared/errors.ts';
import { joinBelow } from '../shared/files/safe-path.ts';
import { newUuid } from '../shared/ids.ts';

/** A folder of things that are kept by their ids. */
export type MediaRoot = 'vod' | 'uploads' | 'live' | 'players' | 'watermarks';

/** What the names of things begin with that are being removed. */
export const removedPrefix = '.removed-';

const publishAttempts = 3;

/** Frees space as far as possible. `missing`: how many more bytes are needed, 0 or less when there are enough. */
export type FreeDiskSpace = (missing: () => Promise<number>) => Promise<void>;

/** Space that can be freed when the disk is short: discarded videos. */
export interface ReclaimableSpace {
  readonly makeRoom: FreeDiskSpace;
  /** Whether {@link makeRoom} could free so many bytes. */
  canMakeRoom(bytes: number): boolean;
}

/**
 * The layout of the data folder's media, and the ways in which a file gets there whole or not at all. A path that is handed out
 * is below the data folder; nothing is made by asking for it.
 *
 * - `vod/<videoId>/`: `source`, renditions, `mp4/source.mp4`, images, captions, chapters
 * - `uploads/<videoId>/`: chunks of an upload that is under way
 * - `work/<uuid>/`: a job's own folder; nobody else looks into it, and a start empties it
 * - `live/<liveStreamId>/`: the image of a live stream; `live/<liveStreamId>/<broadcastId>/`: what viewers can go back to
 * - `watermarks/<watermarkId>`: images to burn in
 * - `players/<playerId>/`: the logo of a player theme
 *
 * What is named `.removed-<uuid>` anywhere in there is being removed.
 */
export class MediaFiles {
  readonly #root: string;
  #reclaimable: ReclaimableSpace | undefined;

  constructor(dataDir: string) {
    this.#root = dataDir;
  }

  /** Frees space from here when the disk is short. */
  reclaimFrom(space: ReclaimableSpace): void {
    this.#reclaimable = space;
  }

  /** Frees space as far as possible, until `missing` says that there is enough. */
  async freeSpace(missing: () => Promise<number>): Promise<void> {
    await this.#reclaimable?.makeRoom(missing);
  }

  /** The data folder itself. */
  get folder(): string {
    return this.#root;
  }

  /** Folder of a video. */
  video(videoId: string, ...parts: string[]): string {
    return joinBelow(this.#root, 'vod', videoId, ...parts);
  }

  /** The uploaded file of a video, as it came. */
  source(videoId: string): string {
    return this.video(videoId, 'source');
  }

  /** Folder of a video's chunks. */
  upload(videoId: string, ...parts: string[]): string {
    return joinBelow(this.#root, 'uploads', videoId, ...parts);
  }

  /** File of a watermark. */
  watermark(watermarkId: string): string {
    return joinBelow(this.#root, 'watermarks', watermarkId);
  }

  /** Folder of a live stream. */
  live(liveStreamId: string, ...parts: string[]): string {
    return joinBelow(this.#root, 'live', liveStreamId, ...parts);
  }

  /** Folder of a player theme. */
  player(playerId: string, ...parts: string[]): string {
    return joinBelow(this.#root, 'players', playerId, ...parts);
  }

  /** Gives work a new empty folder of its own, which is removed afterwards. */
  async inWorkFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
    const folder = joinBelow(this.#root, 'work', newUuid());
    try {
      await mkdir(folder, { recursive: true });
      return await work(folder);
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  /** Removes what jobs left behind when the server last stopped. Before any job runs. */
  async emptyWork(): Promise<void> {
    await rm(joinBelow(this.#root, 'work'), { recursive: true, force: true, maxRetries: 3 });
  }

  /** Where all that is kept by ids of one kind stands. */
  root(kind: MediaRoot): string {
    return joinBelow(this.#root, kind);
  }

  /** Puts a finished file in its place: on the disk first, then under its name, in one step. */
  async publish(from: string, to: string): Promise<void> {
    await syncFile(from);
    for (let attempt = 1; ; attempt += 1) {
      await mkdir(dirname(to), { recursive: true });
      try {
        return await rename(from, to);
      } catch (error) {
        // Its folder may just have been removed by another way.
        if (attempt === publishAttempts || systemCodeOf(error) !== 'ENOENT') throw error;
      }
    }
  }

  /**
   * Takes a file or folder away from where everybody looks for it, to be removed when there is time. Without an `await`, so that
   * nothing comes between finding that nobody needs it and this.
   *
   * @returns where it is until then; undefined when it is not there
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

  /** Removes all files of a video, chunks too. One that has none is fine, and so is one that is being removed. */
  async removeVideo(videoId: string): Promise<void> {
    const aside = [this.video(videoId), this.upload(videoId)].map(path => this.renameForRemoval(path));
    await Promise.all(aside.map(path => path && rm(path, { recursive: true, force: true, maxRetries: 3 })));
  }

  /**
   * Makes sure that there is room for so many more bytes, and that `leftBytes` stay free beside them; what can go makes room first.
   *
   * @throws AppError `disk-full`
   */
  async ensureFreeSpace(bytes: number, leftBytes: number): Promise<void> {
    let free = await this.freeBytes();
    if (free - bytes >= leftBytes) return;
    await this.freeSpace(async () => bytes + leftBytes - (await this.freeBytes()));
    free = await this.freeBytes();
    if (free - bytes < leftBytes) throw diskFull(bytes, free);
  }

  /**
   * Checks that announced bytes can be stored when they come. Deletes nothing for them: a sender can announce what it never sends.
   * Call {@link ensureFreeSpace} while they arrive.
   *
   * @throws AppError `disk-full`
   */
  async expectRoom(bytes: number, leftBytes: number): Promise<void> {
    await this.ensureFreeSpace(0, leftBytes);
    const free = await this.freeBytes();
    const missing = bytes + leftBytes - free;
    if (missing > 0 && this.#reclaimable?.canMakeRoom(missing) !== true) throw diskFull(bytes, free);
  }

  /** Bytes that can still be written to the data folder's file system. */
  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.#root);
    return bavail * bsize;
  }
}

function diskFull(neededBytes: number, freeBytes: number): AppError {
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`;
  return new AppError('disk-full', `${megabytes(neededBytes)} are needed, ${megabytes(freeBytes)} are free`);
}

/** Brings a file's bytes to the disk. */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Brings the name of a file to the disk. */
export async function syncFolderOf(path: string): Promise<void> {
  const handle = await open(dirname(path), 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
