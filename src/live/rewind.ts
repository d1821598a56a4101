import { rm, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../shared/clock.ts';
import type { Component } from '../shared/lifecycle.ts';
import type { Logger } from '../shared/logger.ts';
import { foldersIn } from '../storage/folder-names.ts';
import type { MediaFiles } from '../storage/media-files.ts';
import { RewindChunks } from './rewind-chunks.ts';
import { RewindRoom } from './rewind-room.ts';
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
const broadcastFolder = /^br[0-9A-Za-z]{22}$/;

/**
 * What viewers can go back to, on disk: `live/<liveStreamId>/<broadcastId>/<rendition>/`. It belongs to a process: what a former one
 * left is removed in the background after the start.
 */
export class Rewind implements Component {
  readonly name = 'rewind';
  readonly #options: RewindOptions;
  readonly #room: RewindRoom;
  readonly #open = new Set<string>();
  readonly #removals = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #cleaning: Promise<unknown> = Promise.resolve();

  constructor(options: RewindOptions) {
    this.#options = options;
    this.#room = new RewindRoom({
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
    if (this.isOn) await this.#room.check();
    void this.removeLeftovers().catch((error: unknown) =>
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
    const stores: RewindChunks[] = [];
    let isRemoved = false;
    this.#open.add(broadcastId);
    return {
      seconds,
      isKeptAfterEnd,
      store: rendition => {
        const store = new RewindChunks({
          // A rendition that comes a second time has a folder of its own.
          folder: files.live(liveStreamId, broadcastId, `${rendition}-${stores.length + 1}`),
          room: this.#room,
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
            this.#open.delete(broadcastId);
            this.#removals.delete(removal);
          },
        );
        this.#removals.add(removal);
      },
    };
  }

  /** Removes the folders of broadcasts that no broadcast of this process writes to; how many there were. */
  removeLeftovers(): Promise<number> {
    // Two at once, at a start and by a sweep, would count and find the same.
    const removal = this.#cleaning.then(() => this.#removeLeft());
    this.#cleaning = removal.catch(() => {});
    return removal;
  }

  async #removeLeft(): Promise<number> {
    const { files, log } = this.#options;
    let count = 0;
    for (const liveStreamId of await foldersIn(files.live('.'))) {
      const before = count;
      for (const name of await foldersIn(files.live(liveStreamId))) {
        if (this.#stopping.signal.aborted) return count;
        if (!broadcastFolder.test(name) || this.#open.has(name)) continue;
        await rm(files.live(liveStreamId, name), { recursive: true, force: true, maxRetries: 3 });
        count += 1;
      }
      if (count > before) await removeIfEmpty(files.live(liveStreamId));
    }
    if (count > 0) log.info('rewind-leftovers-removed', { broadcasts: count });
    return count;
  }

  async #removeAll(stores: readonly RewindChunks[], folder: string): Promise<void> {
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
