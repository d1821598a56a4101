import type { Outbox } from '../../../events/outbox.store.ts';
import { type Clock, formatAtom } from '../../../shared/clock.ts';
import type { Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import type { ExpiringVideo, RetentionStore } from './retention.store.ts';

interface VideoExpiryOptions {
  readonly database: Database;
  readonly store: RetentionStore;
  readonly outbox: Outbox;
  readonly isReceiving: (videoId: string, transaction: Transaction) => Promise<boolean>;
  readonly videos: {
    /** Returns the time at which the video is deleted permanently; undefined when it is. */
    discard(projectId: string, videoId: string, transaction: Transaction): Promise<number | undefined>;
    removeFiles(projectId: string, videoId: string): Promise<void>;
  };
  readonly clock: Clock;
}

const batchSize = 100;

/** Announces and deletes videos whose time is over. Each change commits with its event. */
export class VideoExpiry {
  readonly #options: VideoExpiryOptions;

  constructor(options: VideoExpiryOptions) {
    this.#options = options;
  }

  /** @returns the number of deleted videos */
  async run(signal?: AbortSignal): Promise<number> {
    const { store, clock } = this.#options;
    const nowMs = clock.nowMs();
    await inBatches(
      () => store.listToAnnounce(nowMs, batchSize),
      video => this.#announce(video),
      signal,
    );
    return inBatches(
      () => store.listExpired(nowMs, batchSize),
      video => this.#expire(video),
      signal,
    );
  }

  #announce(video: ExpiringVideo): Promise<boolean> {
    const { database, store } = this.#options;
    return database.transaction(async transaction => {
      if (!(await store.noteAnnounced(video, transaction))) return false;
      await this.#append('video.expiring', video, { expiresAt: formatAtom(video.expiresAtMs) }, transaction);
      return true;
    });
  }

  /** Keeps a video that is being uploaded. */
  async #expire(video: ExpiringVideo): Promise<boolean> {
    const { database, store, videos, isReceiving } = this.#options;
    const { projectId, videoId } = video;
    const expired = await database.transaction(async transaction => {
      if (!(await store.hold(video, transaction)) || (await isReceiving(videoId, transaction))) return;
      const deletesAtMs = await videos.discard(projectId, videoId, transaction);
      const times: Record<string, string> =
        deletesAtMs === undefined ? {} : { deletesAt: formatAtom(deletesAtMs) };
      await this.#append('video.expired', video, times, transaction);
      return { isRemoved: deletesAtMs === undefined };
    });
    if (expired?.isRemoved === true) await videos.removeFiles(projectId, videoId);
    return expired !== undefined;
  }

  async #append(
    type: 'video.expiring' | 'video.expired',
    { projectId, videoId, liveStreamId }: ExpiringVideo,
    payload: Readonly<Record<string, string>>,
    transaction: Transaction,
  ): Promise<void> {
    const { outbox, clock } = this.#options;
    const recordedFrom = liveStreamId === null ? {} : { liveStreamId };
    const event = { projectId, type, subjectId: videoId, payload: { videoId, ...payload, ...recordedFrom } };
    await outbox.append(event, clock.nowMs(), transaction);
  }
}

/** @param change returns false for a video that stays in the list */
async function inBatches(
  list: () => Promise<readonly ExpiringVideo[]>,
  change: (video: ExpiringVideo) => Promise<boolean>,
  signal: AbortSignal | undefined,
): Promise<number> {
  let count = 0;
  for (let isLast = false; !isLast; ) {
    const batch = await list();
    let changed = 0;
    for (const video of batch) {
      if (signal?.aborted === true) return count;
      if (await change(video)) changed += 1;
    }
    count += changed;
    isLast = batch.length < batchSize || changed === 0;
  }
  return count;
}
