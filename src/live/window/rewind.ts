import { rm, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../shared/clock.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { foldersIn } from '../../storage/folder-names.ts';
import type { MediaFiles } from '../../storage/media-files.ts';
import { FileRewindStore } from './file-rewind-store.ts';
import { RewindDiskSpace } from './rewind-disk-space.ts';
import type { BroadcastRewind, OpenRewind } from './rewind-store.ts';

/** What {@link Rewind} is made with. */
export interface RewindOptions {
  readonly files: MediaFiles;
  /** How far back viewers can go; 0 is nowhere. */
  readonly seconds: number;
  /** Nothing is written while less is free on the disk. */
  readonly minFreeBytes: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Folders of broadcasts, beside the image of their live stream. */
const broadcastFolderPattern = /^br[0-9A-Za-z]{22}$/;

/**
 * What viewers can go back to, on disk: `live/<liveStreamId>/<broadcastId>/<rendition>/`. It belongs to a process: what a former one
 * left is removed in the background after the start.
 */
export class Rewind implements Component {
  readonly name = 'rewind';
  readonly #options: RewindOptions;
  readonly #diskSpace: RewindDiskSpace;
  readonly #openBroadcastIds = new Set<string>();
  readonly #removals = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #cleaning: Promise<unknown> = Promise.resolve();

  constructor(options: RewindOptions) {
    this.#options = options;
    this.#diskSpace = new RewindDiskSpace({
      freeBytes: () => options.files.freeBytes(),
      minFreeBytes: options.minFreeBytes,
      clock: options.clock,
      log: options.log,
    });
  }

  /** Whether anything is to be kept. */
  get isOn(): boolean {
    return this.#options.seconds > 0;
  }

  async start(): Promise<void> {
    if (this.isOn) await this.#diskSpace.check();
    void this.removeOrphanedFolders().catch((error: unknown) =>
      this.#options.log.warn('rewind-leftovers-not-removed', { error }),
    );
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#cleaning;
    await Promise.all(this.#removals);
  }

  /** Makes what a broadcast that begins needs. */
  open({ liveStreamId, broadcastId, isKeptAfterEnd }: Parameters<OpenRewind>[0]): BroadcastRewind {
    const { files, log, seconds } = this.#options;
    const stores: FileRewindStore[] = [];
    let isRemoved = false;
    this.#openBroadcastIds.add(broadcastId);
    return {
      seconds,
      isKeptAfterEnd,
      store: rendition => {
        const store = new FileRewindStore({
          // A rendition that comes a second time has a folder of its own.
          folder: files.live(liveStreamId, broadcastId, `${rendition}-${stores.length + 1}`),
          diskSpace: this.#diskSpace,
          log: log.child('live', { liveStreamId, broadcastId, rendition }),
        });
        stores.push(store);
        return store;
      },
      remove: () => {
        if (isRemoved) return;
        isRemoved = true;
        const removal: Promise<void> = this.#removeAll(stores, files.live(liveStreamId, broadcastId)).finally(
          () => {
            this.#openBroadcastIds.delete(broadcastId);
            this.#removals.delete(removal);
          },
        );
        this.#removals.add(removal);
      },
    };
  }

  /** Removes the folders of broadcasts that no broadcast of this process writes to; how many there were. */
  removeOrphanedFolders(): Promise<number> {
    // Two at once, at a start and by a sweep, would count and find the same.
    const removal = this.#cleaning.then(() => this.#findAndRemoveOrphans());
    this.#cleaning = removal.catch(() => {});
    return removal;
  }

  async #findAndRemoveOrphans(): Promise<number> {
    const { files, log } = this.#options;
    let count = 0;
    for (const liveStreamId of await foldersIn(files.live('.'))) {
      const before = count;
      for (const name of await foldersIn(files.live(liveStreamId))) {
        if (this.#stopping.signal.aborted) return count;
        if (!broadcastFolderPattern.test(name) || this.#openBroadcastIds.has(name)) continue;
        await rm(files.live(liveStreamId, name), { recursive: true, force: true, maxRetries: 3 });
        count += 1;
      }
      if (count > before) await removeIfEmpty(files.live(liveStreamId));
    }
    if (count > 0) log.info('rewind-leftovers-removed', { broadcasts: count });
    return count;
  }

  async #removeAll(stores: readonly FileRewindStore[], folder: string): Promise<void> {
    try {
      await Promise.all(stores.map(store => store.close()));
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      await removeIfEmpty(dirname(folder));
    } catch (error) {
      this.#options.log.warn('rewind-not-removed', { folder, error });
    }
  }
}

/** Of a live stream: not empty while it has an image or another broadcast; else nobody needs it. */
async function removeIfEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch(() => {});
}
