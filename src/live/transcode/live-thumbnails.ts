import { createHash } from 'node:crypto';
import type { ThumbnailMedia } from '../../ffmpeg/part-thumbnails.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { ConcurrencyLimit } from '../../shared/scheduling/concurrency-limit.ts';
import { OnDemandInterval } from '../../shared/scheduling/on-demand-interval.ts';
import {
  type BroadcastInfo,
  type BroadcastSubscriber,
  sourceRendition,
} from '../broadcast/broadcast-subscriber.ts';

interface LiveThumbnail {
  readonly body: Buffer;
  readonly contentType: 'image/jpeg';
  /** Quoted and strong. */
  readonly etag: string;
}

interface LiveThumbnailsOptions {
  /** Undefined when the media has no frame. */
  readonly makeThumbnail: (
    media: ThumbnailMedia,
    ids: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ) => Promise<Buffer | undefined>;
  readonly isPlayable: (liveStreamId: string, broadcastId: string) => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

interface BroadcastThumbnail {
  readonly liveStreamId: string;
  readonly broadcastId: string;
  /** Newest part with a keyframe and without a thumbnail. */
  newest: ThumbnailMedia | undefined;
  releaseNewest: () => void;
  frame: LiveThumbnail | undefined;
  triedAtMs: number;
  making: Promise<void> | undefined;
  hasEnded: boolean;
}

const noop = () => {};
/** An older thumbnail is replaced on request. */
const maxAgeMs = 10_000;
const maxFirstWaitMs = 3000;
const maxRunning = 2;
/** Further requests get the old thumbnail. */
const maxWaiting = 50;
const sweepEveryMs = 5000;
/** Thumbnails and unused parts of all ended broadcasts. */
const maxEndedBytes = 32 * 1024 * 1024;

export class LiveThumbnails implements Component {
  readonly name = 'live-frames';
  readonly #options: LiveThumbnailsOptions;
  /** Thumbnails by broadcast; ended ones in the order of their end. */
  readonly #thumbnails = new Map<string, BroadcastThumbnail>();
  readonly #turns = new ConcurrencyLimit(maxRunning);
  readonly #abort = new AbortController();
  readonly #sweeps = new OnDemandInterval(sweepEveryMs, () => this.#sweep());

  constructor(options: LiveThumbnailsOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#sweeps.stop();
    this.#abort.abort();
    await Promise.all([...this.#thumbnails.values()].map(thumbnail => thumbnail.making));
    this.#thumbnails.clear();
  }

  follow({ liveStreamId, broadcastId }: BroadcastInfo): BroadcastSubscriber {
    const thumbnail: BroadcastThumbnail = {
      liveStreamId,
      broadcastId,
      newest: undefined,
      frame: undefined,
      making: undefined,
      releaseNewest: noop,
      triedAtMs: Number.NEGATIVE_INFINITY,
      hasEnded: false,
    };
    this.#thumbnails.set(broadcastId, thumbnail);
    let init: Buffer | undefined;
    let height: number | undefined;
    return {
      name: this.name,
      tracks: (rendition, tracks, bytes, isSlate) => {
        if (rendition !== sourceRendition || isSlate) return;
        init = tracks.video === undefined ? undefined : bytes;
        height = tracks.video?.height;
      },
      part: part => {
        if (part.rendition !== sourceRendition || part.isSlate || !part.isIndependent) return;
        if (init === undefined) return;
        thumbnail.releaseNewest();
        thumbnail.releaseNewest = part.hold();
        thumbnail.newest = { init, part: part.body, height };
      },
      ended: () => {
        thumbnail.hasEnded = true;
        // Moved to the end: the broadcast that ended first is removed first.
        if (!this.#thumbnails.delete(broadcastId)) return;
        this.#thumbnails.set(broadcastId, thumbnail);
        if (this.#sweep()) this.#sweeps.wake();
      },
    };
  }

  hasFrame(broadcastId: string): boolean {
    const thumbnail = this.#thumbnails.get(broadcastId);
    return thumbnail !== undefined && (thumbnail.frame !== undefined || thumbnail.newest !== undefined);
  }

  /** Undefined when no thumbnail can be made. Never rejects. */
  async frame(broadcastId: string): Promise<LiveThumbnail | undefined> {
    const thumbnail = this.#thumbnails.get(broadcastId);
    if (thumbnail === undefined) return undefined;
    const isDue = this.#options.clock.monotonicMs() - thumbnail.triedAtMs >= maxAgeMs;
    if (isDue && thumbnail.making === undefined && thumbnail.newest !== undefined) this.#start(thumbnail);
    if (thumbnail.frame === undefined && thumbnail.making !== undefined) {
      await Promise.race([thumbnail.making, this.#firstWait()]);
    }
    return thumbnail.frame;
  }

  async #firstWait(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    setTimeout(resolve, maxFirstWaitMs).unref();
    return promise;
  }

  #start(thumbnail: BroadcastThumbnail): void {
    if (this.#abort.signal.aborted || this.#turns.waitingCount >= maxWaiting) return;
    thumbnail.making = this.#turns
      .run(() => this.#make(thumbnail))
      .finally(() => {
        thumbnail.making = undefined;
      });
  }

  async #make(thumbnail: BroadcastThumbnail): Promise<void> {
    const { makeThumbnail, clock, log } = this.#options;
    const { liveStreamId, broadcastId } = thumbnail;
    try {
      const media = thumbnail.newest;
      if (media === undefined || this.#abort.signal.aborted) return;
      thumbnail.newest = undefined;
      // Keeps the frame, which is in use until long after the next part.
      thumbnail.releaseNewest = noop;
      const body = await makeThumbnail(media, { liveStreamId, broadcastId }, this.#abort.signal);
      if (body === undefined) log.debug('live-thumbnail-empty', { liveStreamId, broadcastId });
      else thumbnail.frame = frameOf(body);
    } catch (error) {
      log.warn('live-thumbnail-failed', { liveStreamId, broadcastId, error });
    } finally {
      thumbnail.triedAtMs = clock.monotonicMs();
    }
  }

  /** Removes unplayable and excess ended broadcasts. Returns true while ended ones are left. */
  #sweep(): boolean {
    const ended = [...this.#thumbnails.values()].filter(thumbnail => thumbnail.hasEnded);
    let left = ended.length;
    let bytes = ended.reduce((sum, thumbnail) => sum + bytesOf(thumbnail), 0);
    for (const thumbnail of ended) {
      const { liveStreamId, broadcastId } = thumbnail;
      if (bytes <= maxEndedBytes && this.#options.isPlayable(liveStreamId, broadcastId)) continue;
      bytes -= bytesOf(thumbnail);
      this.#thumbnails.delete(broadcastId);
      left -= 1;
    }
    return left > 0;
  }
}

function frameOf(body: Buffer): LiveThumbnail {
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  return { body, contentType: 'image/jpeg', etag: `"${hash}"` };
}

function bytesOf({ newest, frame }: BroadcastThumbnail): number {
  return (newest?.part.length ?? 0) + (frame?.body.length ?? 0);
}
