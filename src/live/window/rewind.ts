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

interface RewindOptions {
  readonly files: MediaFiles;
  /** 0 keeps nothing on disk. */
  readonly seconds: number;
  readonly minFreeBytes: number;
  readonly clock: Clock;
  readonly log: Logger;
}

const broadcastFolderPattern = /^br[0-9A-Za-z]{22}$/;

/**
 * Keeps media in `live/<liveStreamId>/<broadcastId>/<rendition>/` while the process runs, and removes older folders.
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

  get isOn(): boolean {
    return this.#options.seconds > 0;
  }

  async start(): Promise<void> {
    if (this.isOn) await this.#diskSpace.check();
    void this.removeOrphanedFolders().catch((error: unknown) =>
      this.#options.log.warn('orphaned-rewind-not-removed', { error }),
    );
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#cleaning;
    await Promise.all(this.#removals);
  }

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
          // A reopened rendition gets another folder.
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
        if (!broadcastFolderPattern.test(name) || this.#openBroadcastIds.has(name)) continue;
        await rm(files.live(liveStreamId, name), { recursive: true, force: true, maxRetries: 3 });
        count += 1;
      }
      if (count > before) await removeIfEmpty(files.live(liveStreamId));
    }
    if (count > 0) log.info('orphaned-rewind-removed', { broadcasts: count });
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

/** The folder also holds a thumbnail or another broadcast. */
async function removeIfEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch(() => {});
}
