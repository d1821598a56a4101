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

/** A picture out of a broadcast. */
export interface LiveThumbnail {
  readonly body: Buffer;
  readonly contentType: 'image/jpeg';
  /** A quoted, strong entity tag. */
  readonly etag: string;
}

/** What pictures of broadcasts are made with. */
export interface LiveThumbnailsOptions {
  /** Makes a JPEG; undefined when none comes out. */
  readonly makeThumbnail: (
    media: ThumbnailMedia,
    ids: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ) => Promise<Buffer | undefined>;
  /** Whether viewers can still get anything of a broadcast that has ended. */
  readonly isPlayable: (liveStreamId: string, broadcastId: string) => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What is kept of a broadcast. */
interface Holder {
  readonly liveStreamId: string;
  readonly broadcastId: string;
  /** The newest part with a keyframe that no picture was made of yet. */
  newest: ThumbnailMedia | undefined;
  frame: LiveThumbnail | undefined;
  /** When a picture was last made or failed, monotonic ms. */
  triedAtMs: number;
  making: Promise<void> | undefined;
  hasEnded: boolean;
}

/** A picture that is older is made anew when somebody asks. */
const freshMs = 10_000;
/** Whoever asks for the first picture waits for it no longer. */
const firstWaitMs = 3000;
const mostAtOnce = 2;
/** Streams whose picture waits for its turn; what is asked for beyond stays as it is. */
const mostWaiting = 50;
const sweepEveryMs = 5000;
/** Of all broadcasts that have ended: their pictures, and parts that nobody has asked a picture of. */
const mostEndedBytes = 32 * 1024 * 1024;

/**
 * Pictures of what is on air. Of each broadcast the newest part with a keyframe is held, and a picture is made of it only when somebody
 * asks and the last one is ten seconds old; until it is made the old one is shown.
 */
export class LiveThumbnails implements Component {
  readonly name = 'live-frames';
  readonly #options: LiveThumbnailsOptions;
  /** By broadcast; those that ended stand in the order of their end. */
  readonly #holders = new Map<string, Holder>();
  readonly #turns = new ConcurrencyLimit(mostAtOnce);
  readonly #abort = new AbortController();
  readonly #sweeps = new OnDemandInterval(sweepEveryMs, () => this.#sweep());

  constructor(options: LiveThumbnailsOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#sweeps.stop();
    this.#abort.abort();
    await Promise.all([...this.#holders.values()].map(holder => holder.making));
    this.#holders.clear();
  }

  /** Goes along with a broadcast. */
  follow({ liveStreamId, broadcastId }: BroadcastInfo): BroadcastSubscriber {
    const holder: Holder = {
      ...{ liveStreamId, broadcastId, newest: undefined, frame: undefined, making: undefined },
      ...{ triedAtMs: Number.NEGATIVE_INFINITY, hasEnded: false },
    };
    this.#holders.set(broadcastId, holder);
    let init: Buffer | undefined;
    let height: number | undefined;
    return {
      name: this.name,
      tracks: (rendition, tracks, bytes, isStandIn) => {
        if (rendition !== sourceRendition || isStandIn) return;
        init = tracks.video === undefined ? undefined : bytes;
        height = tracks.video?.height;
      },
      part: part => {
        if (part.rendition !== sourceRendition || part.isSlate || !part.isIndependent) return;
        if (init !== undefined) holder.newest = { init, part: part.body, height };
      },
      ended: () => {
        holder.hasEnded = true;
        // To the end of the line: the one that ended longest ago goes first.
        if (!this.#holders.delete(broadcastId)) return;
        this.#holders.set(broadcastId, holder);
        if (this.#sweep()) this.#sweeps.wake();
      },
    };
  }

  /** Whether there is a picture to show, or to be made when it is asked for. */
  hasFrame(broadcastId: string): boolean {
    const holder = this.#holders.get(broadcastId);
    return holder !== undefined && (holder.frame !== undefined || holder.newest !== undefined);
  }

  /** The newest picture that there is; undefined where none can be made. Never rejects. */
  async frame(broadcastId: string): Promise<LiveThumbnail | undefined> {
    const holder = this.#holders.get(broadcastId);
    if (holder === undefined) return undefined;
    const isDue = this.#options.clock.monotonicMs() - holder.triedAtMs >= freshMs;
    if (isDue && holder.making === undefined && holder.newest !== undefined) this.#begin(holder);
    if (holder.frame === undefined && holder.making !== undefined) {
      await Promise.race([holder.making, this.#patience()]);
    }
    return holder.frame;
  }

  async #patience(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    setTimeout(resolve, firstWaitMs).unref();
    return promise;
  }

  #begin(holder: Holder): void {
    if (this.#abort.signal.aborted || this.#turns.waitingCount >= mostWaiting) return;
    holder.making = this.#turns
      .run(() => this.#make(holder))
      .finally(() => {
        holder.making = undefined;
      });
  }

  async #make(holder: Holder): Promise<void> {
    const { makeThumbnail: makePicture, clock, log } = this.#options;
    const { liveStreamId, broadcastId } = holder;
    try {
      const media = holder.newest;
      if (media === undefined || this.#abort.signal.aborted) return;
      holder.newest = undefined;
      const body = await makePicture(media, { liveStreamId, broadcastId }, this.#abort.signal);
      if (body === undefined) log.debug('live-frame-not-made', { liveStreamId, broadcastId });
      else holder.frame = frameOf(body);
    } catch (error) {
      log.warn('live-frame-failed', { liveStreamId, broadcastId, error });
    } finally {
      holder.triedAtMs = clock.monotonicMs();
    }
  }

  /** Forgets what ended and can be played no more, and of the rest what is too much. Returns whether something that ended is left. */
  #sweep(): boolean {
    const ended = [...this.#holders.values()].filter(holder => holder.hasEnded);
    let left = ended.length;
    let bytes = ended.reduce((sum, holder) => sum + bytesOf(holder), 0);
    for (const holder of ended) {
      const { liveStreamId, broadcastId } = holder;
      if (bytes <= mostEndedBytes && this.#options.isPlayable(liveStreamId, broadcastId)) continue;
      bytes -= bytesOf(holder);
      this.#holders.delete(broadcastId);
      left -= 1;
    }
    return left > 0;
  }
}

function frameOf(body: Buffer): LiveThumbnail {
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  return { body, contentType: 'image/jpeg', etag: `"${hash}"` };
}

function bytesOf({ newest, frame }: Holder): number {
  return (newest?.part.length ?? 0) + (frame?.body.length ?? 0);
}
