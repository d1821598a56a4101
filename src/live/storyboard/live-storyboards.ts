import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { SheetMedia } from '../../ffmpeg/part-thumbnails.ts';
import { writeFragment } from '../../media/cmaf/fragment-writer.ts';
import { displaySize, writeInitSegment } from '../../media/cmaf/init-segment.ts';
import { systemCodeOf } from '../../shared/errors.ts';
import type { OpenFile } from '../../shared/files/opened-file.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { FairQueue } from '../../shared/scheduling/fair-queue.ts';
import { OnDemandInterval } from '../../shared/scheduling/on-demand-interval.ts';
import type { ClippableMedia, DateRange } from '../window/clippable-media.ts';
import { datesOfSheet, readKeyframe, segmentsOfSheet } from './slot-keyframes.ts';

interface StoryboardImage {
  readonly body: Buffer;
  readonly contentType: 'image/jpeg';
  /** Quoted and strong. */
  readonly etag: string;
}

interface BroadcastIds {
  readonly liveStreamId: string;
  readonly broadcastId: string;
}

interface Sheet extends BroadcastIds {
  readonly slots: number;
  /** Undefined when none could be made. */
  readonly image: StoryboardImage | undefined;
}

interface LiveStoryboardsOptions {
  /** Undefined when the broadcast cannot be played. */
  readonly mediaOf: (
    liveStreamId: string,
    broadcastId: string,
    dates: DateRange,
  ) => Pick<ClippableMedia, 'renditions' | 'segments'> | undefined;
  readonly isPlayable: (liveStreamId: string, broadcastId: string) => boolean;
  /** Undefined when the media has no frame. */
  readonly makeSheet: (
    media: SheetMedia,
    ids: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ) => Promise<Buffer | undefined>;
  readonly open: OpenFile;
  readonly log: Logger;
}

/** Further requests are refused. */
const maxWaitingOfBroadcast = 20;
const maxCacheBytes = 32 * 1024 * 1024;
const sweepEveryMs = 5000;
const failureLifetimeMs = 10_000;

/** Makes storyboards of broadcasts when viewers ask for them, from the keyframes that viewers can rewind to. */
export class LiveStoryboards implements Component {
  readonly name = 'live-storyboards';
  readonly #options: LiveStoryboardsOptions;
  readonly #sheets = new LRUCache<string, Sheet>({
    maxSize: maxCacheBytes,
    sizeCalculation: ({ image }) => image?.body.length ?? 1,
  });
  readonly #making = new Map<string, Promise<void>>();
  /** One job at a time: they take processor time from broadcasts. */
  readonly #queue = new FairQueue();
  readonly #abort = new AbortController();
  readonly #sweeps = new OnDemandInterval(sweepEveryMs, () => this.#sweep());

  constructor(options: LiveStoryboardsOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#sweeps.stop();
    this.#abort.abort();
    await Promise.all(this.#making.values());
    this.#sheets.clear();
  }

  /**
   * Frames of neighboring slots, in one image.
   * @param number of the sheet since 1970
   * @param slots the image has at least so many; those behind them repeat the last frame
   * @returns undefined when the slots have not passed, are gone, or have no frame. Never rejects
   */
  async sheet(
    liveStreamId: string,
    broadcastId: string,
    number: number,
    slots: number,
  ): Promise<StoryboardImage | undefined> {
    const key = `${broadcastId}/${number}`;
    if (!this.#isMade(key, slots)) {
      await this.#making.get(key);
      if (!this.#isMade(key, slots)) await this.#make(key, { liveStreamId, broadcastId }, number, slots);
    }
    const sheet = this.#sheets.get(key);
    return sheet !== undefined && sheet.slots >= slots ? sheet.image : undefined;
  }

  #isMade(key: string, slots: number): boolean {
    return (this.#sheets.get(key)?.slots ?? 0) >= slots;
  }

  async #make(key: string, ids: BroadcastIds, number: number, slots: number): Promise<void> {
    let making = this.#making.get(key);
    if (making === undefined) {
      const { broadcastId } = ids;
      const isFull = this.#queue.waitingCountOf(broadcastId) >= maxWaitingOfBroadcast;
      // Requests for what cannot be made take no place in the queue.
      if (this.#abort.signal.aborted || isFull || this.#find(ids, number, slots) === undefined) return;
      making = this.#queue
        .run(broadcastId, () => this.#makeSheet(key, ids, number, slots))
        .finally(() => this.#making.delete(key));
      this.#making.set(key, making);
    }
    await making;
  }

  async #makeSheet(key: string, ids: BroadcastIds, number: number, slots: number): Promise<void> {
    const { makeSheet, log } = this.#options;
    const { liveStreamId, broadcastId } = ids;
    const found = this.#find(ids, number, slots);
    if (found === undefined) return;
    let body: Buffer | undefined;
    try {
      const frames = await this.#framesOf(ids, found.media, found.segments);
      if (frames !== undefined) body = await makeSheet(frames, { ...ids }, this.#abort.signal);
    } catch (error) {
      log.warn('live-storyboard-failed', { ...ids, error });
    }
    const image = body && imageOf(body);
    const sheet: Sheet = { liveStreamId, broadcastId, slots: found.slots, image };
    this.#sheets.set(key, sheet, image === undefined ? { ttl: failureLifetimeMs } : {});
    this.#sweeps.wake();
  }

  /** Undefined when the slots have not passed, are gone, or have no segment. */
  #find({ liveStreamId, broadcastId }: BroadcastIds, number: number, slots: number) {
    const media = this.#options.mediaOf(liveStreamId, broadcastId, datesOfSheet(number));
    const found = media && segmentsOfSheet(media, number);
    if (media === undefined || found === undefined || found.slots < slots) return undefined;
    return { ...found, media };
  }

  /** One second of video for each slot. */
  async #framesOf(
    ids: BroadcastIds,
    { renditions }: Pick<ClippableMedia, 'renditions'>,
    segments: NonNullable<ReturnType<typeof segmentsOfSheet>>['segments'],
  ): Promise<SheetMedia | undefined> {
    const tracks = renditions[0] ?? [];
    const track = tracks.find(({ kind }) => kind === 'video');
    if (track === undefined) return undefined;
    const { timescale, height } = track;
    const fragments: Buffer[] = [];
    let problem: unknown;
    for (const [slot, segment] of segments) {
      let data: Buffer | undefined;
      try {
        data = await readKeyframe(segment, tracks, this.#options.open);
      } catch (error) {
        // The window may have dropped the segment in the meantime.
        if (systemCodeOf(error) !== 'ENOENT') problem ??= error;
      }
      if (data === undefined) continue;
      const sample = { durationTicks: timescale, compositionOffsetTicks: 0, isSync: true, data };
      const run = { trackId: track.id, baseDtsTicks: slot * timescale, samples: [sample] };
      fragments.push(writeFragment(fragments.length + 1, [run]));
    }
    if (problem !== undefined)
      this.#options.log.warn('live-storyboard-incomplete', { ...ids, error: problem });
    if (fragments.length === 0) return undefined;
    return { media: [writeInitSegment([track]), ...fragments], height, size: displaySize(track) };
  }

  /** Forgets broadcasts that can be played no longer. Returns true while sheets are left. */
  #sweep(): boolean {
    for (const [key, { liveStreamId, broadcastId }] of this.#sheets.entries())
      if (!this.#options.isPlayable(liveStreamId, broadcastId)) this.#sheets.delete(key);
    return this.#sheets.size > 0;
  }
}

function imageOf(body: Buffer): StoryboardImage {
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  return { body, contentType: 'image/jpeg', etag: `"${hash}"` };
}
