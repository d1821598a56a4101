import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/logger.ts';
import type { Transaction } from '../../../store/connection.ts';
import type { VideosStore } from './videos.store.ts';

export interface VideoRemovalOptions {
  readonly store: VideosStore;
  readonly clock: Clock;
  readonly isReceiving: (videoId: string, transaction: Transaction) => Promise<boolean>;
  readonly removed: (videoId: string) => Promise<void>;
  readonly log: Logger;
}

const batchSize = 100;
/** Discarded videos that one call of {@link VideoRemoval.makeRoom} looks through. */
const maxPurgedForSpace = 1_000;
const emptyTrashRetryMs = 10 * 60_000;
const maxWithoutSourceMs = 7 * 24 * 3_600_000;

/** Removes videos for good, the row before the files: a crash can only leave files without a row. */
export class VideoRemoval {
  readonly #options: VideoRemovalOptions;
  readonly #store: VideosStore;
  #emptyingTrash: Promise<void> = Promise.resolve();
  /** Monotonic. */
  #emptyTrashNotBeforeMs = Number.NEGATIVE_INFINITY;

  constructor(options: VideoRemovalOptions) {
    this.#options = options;
    this.#store = options.store;
  }

  async remove(projectId: string, videoId: string): Promise<void> {
    await this.#store.remove(projectId, videoId);
    await this.#removeFiles(videoId);
  }

  purgeDiscarded(nowMs: number, signal?: AbortSignal): Promise<number> {
    return this.removeEach(
      limit => this.#store.findDiscardedUntil(nowMs, limit),
      videoId => this.#store.removeDiscardedUntil(videoId, nowMs),
      signal,
    );
  }

  /**
   * Removes discarded videos, oldest first, until enough bytes are free. Removes none when all together are
   * not enough, nor for a while after a call that freed nothing. Calls run one after the other.
   * @param missingBytes 0 or less when there are enough
   */
  makeRoom(missingBytes: () => Promise<number>): Promise<void> {
    const emptying = this.#emptyingTrash.then(() => this.#emptyTrash(missingBytes));
    this.#emptyingTrash = emptying.catch(() => {});
    return emptying;
  }

  async canMakeRoom(bytes: number): Promise<boolean> {
    const { clock } = this.#options;
    if (clock.monotonicMs() < this.#emptyTrashNotBeforeMs) return false;
    return (await this.#oldestDiscarded(bytes)).length > 0;
  }

  removeEmpty(nowMs: number, signal?: AbortSignal): Promise<number> {
    const createdUntilMs = nowMs - maxWithoutSourceMs;
    return this.removeEach(
      limit => this.#store.findEmpty(createdUntilMs, limit),
      videoId => this.#store.removeEmpty(videoId, createdUntilMs, this.#options.isReceiving),
      signal,
    );
  }

  removeOfSandbox(completedUntilMs: number, signal?: AbortSignal): Promise<number> {
    return this.removeEach(
      limit => this.#store.findOfSandbox(completedUntilMs, limit),
      videoId => this.#store.removeOfSandbox(videoId, completedUntilMs, this.#options.isReceiving),
      signal,
    );
  }

  /**
   * Removes videos in batches.
   * @param find returns the next videos, without those that are removed or must stay
   * @param remove returns false when something has changed since
   * @throws the first error, after the others were removed; {@link removeOrphanedFiles} tries again
   */
  async removeEach(
    find: (limit: number) => Promise<readonly string[]>,
    remove: (videoId: string) => Promise<boolean>,
    signal?: AbortSignal,
  ): Promise<number> {
    const removals = new FileRemovals(videoId => this.#removeFiles(videoId));
    for (let isLast = false; !isLast; ) {
      const found = await find(batchSize);
      let removed = 0;
      for (const videoId of found) {
        if (signal?.aborted === true) return removals.count();
        if (!(await remove(videoId))) continue;
        removed += 1;
        await removals.add(videoId);
      }
      isLast = found.length < batchSize || removed === 0;
    }
    return removals.count();
  }

  async removeOrphanedFiles(signal?: AbortSignal): Promise<number> {
    const removals = new FileRemovals(videoId => this.#removeFiles(videoId));
    let afterId = '';
    for (let isLast = false; !isLast; ) {
      const orphaned = await this.#store.findWithOrphanedFiles(afterId, batchSize);
      for (const videoId of orphaned) {
        if (signal?.aborted === true) return removals.count();
        await removals.add(videoId);
      }
      afterId = orphaned.at(-1) ?? afterId;
      isLast = orphaned.length < batchSize;
    }
    return removals.count();
  }

  async #emptyTrash(missingBytes: () => Promise<number>): Promise<void> {
    const { clock, log } = this.#options;
    if (clock.monotonicMs() < this.#emptyTrashNotBeforeMs) return;
    const bytes = await missingBytes();
    const videoIds = bytes > 0 ? await this.#oldestDiscarded(bytes) : [];
    if (videoIds.length === 0) return;
    log.info('trash-emptied', { videos: videoIds.length, bytes });
    await this.removeEach(
      async limit => videoIds.splice(0, limit),
      videoId => this.#store.removeDiscarded(videoId),
    );
    // Delays the next attempt when little space was freed, so that not every attempt deletes more of the trash.
    if (bytes - (await missingBytes()) >= bytes / 2) return;
    this.#emptyTrashNotBeforeMs = clock.monotonicMs() + emptyTrashRetryMs;
    log.warn('trash-emptied-in-vain', {
      bytes,
      hint: 'a running backup, or a snapshot of the file system, keeps deleted files on the disk',
    });
  }

  async #oldestDiscarded(bytes: number): Promise<string[]> {
    const found = await this.#store.findOldestDiscarded(maxPurgedForSpace);
    let remaining = bytes;
    const last = found.findIndex(video => {
      remaining -= video.bytes;
      return remaining <= 0;
    });
    return found.slice(0, last + 1).map(({ videoId }) => videoId);
  }

  async #removeFiles(videoId: string): Promise<void> {
    await this.#options.removed(videoId);
    await this.#store.filesRemoved(videoId);
  }
}

class FileRemovals {
  readonly #remove: (videoId: string) => Promise<void>;
  #count = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(remove: (videoId: string) => Promise<void>) {
    this.#remove = remove;
  }

  async add(videoId: string): Promise<void> {
    try {
      await this.#remove(videoId);
      this.#count += 1;
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  count(): number {
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.#count;
  }
}
