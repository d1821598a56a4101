import { mkdir, open, rename, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError } from '../shared/errors.ts';
import { newUuid } from '../shared/ids.ts';
import { joinBelow } from '../shared/safe-path.ts';

/**
 * The layout of the data folder's media, and the ways in which a file gets there whole or not at all. A path that is handed out
 * is below the data folder; nothing is made by asking for it.
 *
 * - `vod/<videoId>/`: `source`, renditions, `mp4/source.mp4`, images, captions, chapters
 * - `uploads/<videoId>/`: chunks of an upload that is under way
 * - `work/<uuid>/`: a job's own folder; nobody else looks into it, and a start empties it
 * - `live/<liveStreamId>/`: the image of a live stream
 * - `watermarks/<watermarkId>`: images to burn in
 * - `players/<playerId>/`: the logo of a player theme
 */
export class MediaFiles {
  readonly #root: string;

  constructor(dataDir: string) {
    this.#root = dataDir;
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

  /** Puts a finished file in its place: on the disk first, then under its name, in one step. */
  async publish(from: string, to: string): Promise<void> {
    await syncFile(from);
    await mkdir(dirname(to), { recursive: true });
    await rename(from, to);
  }

  /** Removes all files of a video, chunks too. One that has none is fine. */
  async removeVideo(videoId: string): Promise<void> {
    await Promise.all(
      [this.video(videoId), this.upload(videoId)].map(path =>
        rm(path, { recursive: true, force: true, maxRetries: 3 }),
      ),
    );
  }

  /**
   * Makes sure that there is room for so many more bytes, and that `leftBytes` stay free beside them.
   *
   * @throws AppError `disk-full`
   */
  async needRoom(bytes: number, leftBytes: number): Promise<void> {
    const free = await this.freeBytes();
    if (free - bytes >= leftBytes) return;
    throw new AppError(
      'disk-full',
      `${Math.ceil(bytes / 1e6)} MB are needed, ${Math.floor(free / 1e6)} MB are free`,
    );
  }

  /** Bytes that can still be written to the data folder's file system. */
  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.#root);
    return bavail * bsize;
  }
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
