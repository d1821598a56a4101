import { rm, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../shared/clock.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { foldersIn } from '../../storage/folder-names.ts';
import type { FreeSpaceWatch } from '../../storage/free-space-watch.ts';
import type { MediaFiles } from '../../storage/media-files.ts';
import { FilePartStore } from './file-part-store.ts';
import { LiveDiskSpace } from './live-disk-space.ts';
import { LiveFiles } from './live-files.ts';
import type { BroadcastStorage, OpenStorage } from './part-store.ts';

interface LiveStorageOptions {
  readonly files: MediaFiles;
  /** 0 keeps only what the live window needs. */
  readonly rewindSeconds: number;
  readonly freeSpace: FreeSpaceWatch;
  readonly minFreeBytes: number;
  readonly clock: Clock;
  readonly log: Logger;
}

const broadcastFolderPattern = /^br[0-9A-Za-z]{22}(\.\d+)?$/;

/** Keeps media in `live/<liveStreamId>/<broadcastId>/` while the process runs, and removes older folders. */
export class LiveStorage implements Component {
  readonly name = 'live-storage';
  readonly #options: LiveStorageOptions;
  readonly #diskSpace: LiveDiskSpace;
  readonly #openFolders = new Set<string>();
  readonly #removals = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #cleaning: Promise<unknown> = Promise.resolve();

  constructor(options: LiveStorageOptions) {
    this.#options = options;
    this.#diskSpace = new LiveDiskSpace(options);
  }

  async start(): Promise<void> {
    await this.#options.freeSpace.check();
    void this.removeOrphanedFolders().catch((error: unknown) =>
      this.#options.log.warn('orphaned-live-media-not-removed', { error }),
    );
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#cleaning;
    await Promise.all(this.#removals);
  }

  open({ liveStreamId, broadcastId, isKeptAfterEnd, claim }: Parameters<OpenStorage>[0]): BroadcastStorage {
    const { files, log, rewindSeconds } = this.#options;
    const folderName = claim === undefined ? broadcastId : `${broadcastId}.${claim}`;
    const folder = files.live(liveStreamId, folderName);
    const liveFiles = new LiveFiles(folder, log.child('live', { liveStreamId, broadcastId }));
    const stores: FilePartStore[] = [];
    let isRemoved = false;
    this.#openFolders.add(folderName);
    return {
      rewindSeconds,
      isKeptAfterEnd,
      sharedFiles: liveFiles,
      store: rendition => {
        const store = new FilePartStore({
          files: liveFiles,
          diskSpace: this.#diskSpace,
          log: log.child('live', { liveStreamId, broadcastId, rendition }),
        });
        stores.push(store);
        return store;
      },
      remove: () => {
        if (isRemoved) return;
        isRemoved = true;
        liveFiles.close();
        const removal: Promise<void> = this.#removeAll(stores, folder).finally(() => {
          this.#openFolders.delete(folderName);
          this.#removals.delete(removal);
        });
        this.#removals.add(removal);
      },
    };
  }

  removeOrphanedFolders(): Promise<number> {
    // The start and the sweep would otherwise count the same folders.
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
        if (!broadcastFolderPattern.test(name) || this.#openFolders.has(name)) continue;
        await rm(files.live(liveStreamId, name), { recursive: true, force: true, maxRetries: 3 });
        count += 1;
      }
      if (count > before) await removeIfEmpty(files.live(liveStreamId));
    }
    if (count > 0) log.info('orphaned-live-media-removed', { broadcasts: count });
    return count;
  }

  async #removeAll(stores: readonly FilePartStore[], folder: string): Promise<void> {
    try {
      await Promise.all(stores.map(store => store.close()));
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      await removeIfEmpty(dirname(folder));
    } catch (error) {
      this.#options.log.warn('live-media-not-removed', { folder, error });
    }
  }
}

/** The folder also holds a thumbnail or another broadcast. */
async function removeIfEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch(() => {});
}
