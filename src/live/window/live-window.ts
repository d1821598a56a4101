/**
 * The listed part of one rendition of a broadcast: what is new in memory, what is older on disk.
 *
 * **Source**: draft-pantos-hls-rfc8216bis-22: 4.4.5.3 (preload hints), 6.2.1 and 6.2.2 (changing and removing), 6.2.5 (delivery
 * directives).
 */

import { parseDeliveryDirectives } from '../../media/hls/delivery-directives.ts';
import type { RenditionReport } from '../../media/hls/media-playlist.ts';
import type { CompressedText } from '../../shared/text/precompressed-text.ts';
import type { Part, SegmentSink } from '../packaging/segmenter.ts';
import { BlockedRequests } from './blocked-requests.ts';
import { ProgramDateTimes } from './program-date-times.ts';
import type { FileSlice } from './rewind-store.ts';
import {
  type ListedPart,
  type MemorySegment,
  SegmentStore,
  type SegmentStoreOptions,
} from './segment-store.ts';
import { WindowPlaylist } from './window-playlist.ts';

/** Answer to a request for the media playlist. */
export type PlaylistAnswer =
  | {
      readonly status: 200;
      readonly text: CompressedText;
      /** The request waited for the position in its URL, so the URL names this content. */
      readonly hasWaited: boolean;
      readonly targetDurationSeconds: number;
      readonly ended: boolean;
    }
  | { readonly status: 400 | 404 | 503; readonly reason: string };

/** Answer to a request for an init section, a segment or a part. */
export type MediaAnswer =
  | {
      readonly status: 200;
      readonly body: readonly (Buffer | FileSlice)[];
      readonly bytes: number;
      readonly contentType: string;
      readonly etag: string;
      readonly lifetimeSeconds: number;
    }
  | { readonly status: 404 };

/** What a window is made with. */
export interface LiveWindowOptions extends SegmentStoreOptions {
  /** Something new can be fetched. */
  onChange(): void;
  /** How far the other renditions have come. */
  otherRenditions?(): readonly RenditionReport[];
  /** Writes media where none came; gaps are listed instead unless given. */
  filler?: FillerMedia;
  /** The window that this one begins beside: its numbers go on from there. */
  alignedWith?: LiveWindow | undefined;
}

/** Less time than this between two segments is left as it is. */
const minStillMs = 20;

/** Media that a window lists where none came. Each is undefined when it cannot be made. */
export interface FillerMedia {
  /** Writes parts that end where `first` begins, each as long as it. */
  leadIns(first: Part, count: number): readonly Part[] | undefined;
  /** Takes each part before it is listed. After {@link continueTimeline} it is given back with other decode times. */
  add(part: Part): Part;
  /** Writes a part that goes on where the newest one ended. */
  still(durationSeconds: number, sequenceNumber: number): Part | undefined;
  /** Moves the parts that come to the end of what is listed. */
  continueTimeline(): void;
}

/** What is the same of a segment in all renditions. */
export interface SegmentInfo {
  readonly sequence: number;
  readonly hasDiscontinuity: boolean;
  /** Decoding time of its first frame on the broadcast's clock. */
  readonly startMs: number;
  /** Milliseconds since 1970 of `startMs`. */
  readonly programDateTimeMs: number;
}

/** Not 0, so that there is a number before the first for those who ask for what is gone. */
const firstSequence = 1;
/**
 * GStreamer's hlsdemux2 (1.22) loses its place after a list of one segment. Shaka (5.2) looks for captions in three segments, and fails
 * where the open one is among them.
 */
const leadInCount = 3;

/** Parts, segments and init sections of one broadcast, the playlist over them, and everyone who waits for what comes next. */
export class LiveWindow implements SegmentSink {
  readonly targetDurationSeconds: number;
  readonly #options: LiveWindowOptions;
  readonly #segments: SegmentStore;
  readonly #playlist: WindowPlaylist;
  #openedSegment: MemorySegment | undefined;
  /** The first lead-in's. */
  #firstSequence: number;
  #leadInCount: number;
  #nextSequence: number;
  #nextPartNumber = 0;
  #isDiscontinuityDue: boolean;
  /** Segments of the window beside stand before its first one. */
  readonly #startsMidBroadcast: boolean;
  #partTargetSeconds: number | undefined;
  #isEnded = false;
  readonly #programDateTimes = new ProgramDateTimes();
  /** The newest segment is a still. */
  #endsWithStill = false;
  #stillCount = 0;
  #isContinuationDue = false;
  readonly #blockedRequests = new BlockedRequests();

  constructor(options: LiveWindowOptions) {
    this.#options = options;
    this.targetDurationSeconds = options.targetDurationSeconds;
    const { alignedWith } = options;
    this.#firstSequence = alignedWith?.isPlayable ? alignedWith.#nextSequence - 1 : firstSequence;
    // A window that begins beside another has the number of one segment for it.
    this.#leadInCount = options.filler === undefined || alignedWith?.isPlayable ? 1 : leadInCount;
    this.#nextSequence = this.#firstSequence + this.#leadInCount;
    const passed = alignedWith === undefined ? 0 : alignedWith.#segments.nextDiscontinuitySequence;
    this.#segments = new SegmentStore(options, this.#firstSequence, passed);
    this.#startsMidBroadcast = alignedWith?.isPlayable ?? false;
    this.#isDiscontinuityDue = alignedWith === undefined ? false : alignedWith.#isDiscontinuityDue;
    this.#partTargetSeconds = alignedWith?.partTargetSeconds;
    this.#playlist = new WindowPlaylist({
      targetDurationSeconds: options.targetDurationSeconds,
      segments: this.#segments,
      state: () => ({
        partTargetSeconds: this.#partTargetSeconds,
        open: this.#openedSegment,
        firstSequence: this.#firstSequence,
        leadInCount: this.#leadInCount,
        nextSequence: this.#nextSequence,
        nextPartNumber: this.#nextPartNumber,
        isEnded: this.#isEnded,
      }),
      otherRenditions: () => options.otherRenditions?.() ?? [],
    });
  }

  // ------------------------------------------------------------------------------------------------ filling it

  get partTargetSeconds(): number | undefined {
    return this.#partTargetSeconds;
  }

  /** There is something to play. */
  get isPlayable(): boolean {
    return this.#nextPartNumber > 0;
  }

  /** Bytes of segments in memory. */
  get heldBytes(): number {
    return this.#segments.heldBytes;
  }

  /** Bytes of memory that it takes to know where segments are and to list them, beside the segments themselves. */
  get bookkeepingBytes(): number {
    return this.#segments.log.heldBytes + this.#playlist.heldBytes;
  }

  fixPartTarget(seconds: number): void {
    this.#partTargetSeconds ??= seconds;
  }

  nextSequenceNumber(): number {
    return this.#nextPartNumber + this.#leadInCount + this.#stillCount + 1;
  }

  /**
   * Segments from now on need this init section. The same bytes keep their name.
   *
   * The part that was hinted is the next one all the same, as hints have to be (4.4.5.3). From now on this init section is hinted with it;
   * those who heard of the part before could not know.
   */
  useInit(init: Buffer): void {
    const former = this.#segments.map;
    this.#segments.useInit(init);
    if (this.isPlayable && this.#segments.map !== former) this.#notifyChange();
  }

  /** The next segment goes on where the list ends. Stills fill what is missing in between. */
  continueTimeline(): void {
    this.#programDateTimes.restart();
    this.#isContinuationDue = true;
    this.#options.filler?.continueTimeline();
  }

  /** The next segment follows a break: another publisher connection, another packager, a clock that was set. */
  markDiscontinuity(): void {
    this.#programDateTimes.restart();
    if (this.isPlayable || this.#startsMidBroadcast) this.#isDiscontinuityDue = true;
  }

  /**
   * @param arrivedAtMs wall-clock time at which its first frame came in; now unless given
   * @returns what the same segment of other renditions has from it
   */
  openSegment(segment: { startMs: number; isIndependent: boolean; arrivedAtMs?: number }): SegmentInfo {
    const { startMs, isIndependent } = segment;
    const arrivedAtMs = segment.arrivedAtMs ?? this.#options.clock.nowMs();
    if (this.#isContinuationDue) this.#listStillsUntil(arrivedAtMs);
    const { date, isLate } = this.#programDateTimes.dateOf(startMs, arrivedAtMs);
    if (isLate) this.#isDiscontinuityDue = true;
    const { sequence, hasDiscontinuity, dateMs } = this.#newSegment(date, isIndependent);
    const facts = { sequence, hasDiscontinuity, startMs, programDateTimeMs: dateMs };
    this.openAlignedSegment(facts, isIndependent);
    return facts;
  }

  /** Opens a segment with the number, date and break that another rendition gave it. */
  openAlignedSegment(facts: SegmentInfo, isIndependent: boolean): void {
    if (this.#isEnded) return;
    this.#endsWithStill = false;
    this.#isDiscontinuityDue = facts.hasDiscontinuity;
    this.#programDateTimes.lastMs = facts.programDateTimeMs;
    this.#openedSegment = this.#newSegment(facts.programDateTimeMs, isIndependent);
  }

  addPart(added: Part): void {
    const open = this.#openedSegment;
    if (open === undefined) return;
    const part = this.#options.filler?.add(added) ?? added;
    if (!this.isPlayable) this.#listLeadIns(open, part);
    const listed: ListedPart = { ...part, number: this.#nextPartNumber };
    this.#nextPartNumber += 1;
    open.parts.push(listed);
    open.durationSeconds += part.durationSeconds;
    open.bytes += part.body.length;
    this.#segments.addPart(listed);
    this.#notifyChange();
  }

  closeSegment(): void {
    const open = this.#openedSegment;
    this.#openedSegment = undefined;
    if (open === undefined) return;
    if (open.parts.length === 0) {
      this.#isDiscontinuityDue ||= open.hasDiscontinuity;
      return;
    }
    this.#listSegment(open, false);
  }

  /**
   * Nobody publishes: the list grows by a segment that is not there, so that players go on asking.
   *
   * @param hasStopped the publisher stopped, and its connection was not lost
   */
  addGap(durationSeconds: number, hasStopped = false): void {
    this.closeSegment();
    if (!this.isPlayable) {
      this.#startListAt(this.#nextSequence, this.#isDiscontinuityDue);
      return;
    }
    this.#programDateTimes.lastMs = Math.round(this.#endDateMs());
    const gap: MemorySegment = { ...this.#newSegment(this.#programDateTimes.lastMs, false), hasStopped };
    gap.durationSeconds = durationSeconds;
    this.#listSegment(gap, true);
  }

  /**
   * Nobody publishes: the list grows by a still, or by a gap where none can be made.
   *
   * @param hasStopped the publisher stopped, and its connection was not lost
   */
  addStill(durationSeconds: number, hasStopped = false): void {
    if (!this.isPlayable || !this.#listStill(durationSeconds, hasStopped)) {
      this.addGap(durationSeconds, hasStopped);
    }
  }

  /** A segment that another rendition has, and of which this one has nothing. */
  addMissingSegment(facts: SegmentInfo, durationSeconds: number): void {
    if (this.#isEnded) return;
    if (!this.isPlayable) {
      this.#startListAt(facts.sequence, facts.hasDiscontinuity);
      return;
    }
    this.#isDiscontinuityDue = facts.hasDiscontinuity;
    this.#programDateTimes.lastMs = facts.programDateTimeMs;
    const missing = this.#newSegment(facts.programDateTimeMs, false);
    missing.durationSeconds = durationSeconds;
    this.#listSegment(missing, true);
  }

  /** The broadcast is over: the list ends, and everyone who waits is answered. */
  end(): void {
    if (this.#isEnded) return;
    this.closeSegment();
    // video.js and Shaka notice an end only with media that comes together with it.
    if (this.isPlayable) this.#listStill(this.#partTargetSeconds ?? 1);
    this.#isEnded = true;
    this.#notifyChange();
  }

  /** How far it has come, for the lists of other renditions; undefined while it has no list. */
  get liveEdge(): { readonly lastMsn: number; readonly lastPart: number } | undefined {
    if (!this.isPlayable) return undefined;
    const open = this.#openedSegment;
    if (open !== undefined && open.parts.length > 0) {
      return { lastMsn: this.#nextSequence, lastPart: open.parts.length - 1 };
    }
    const parts = this.#segments.partsOf(this.#nextSequence - 1)?.length ?? 0;
    return { lastMsn: this.#nextSequence - 1, lastPart: Math.max(0, parts - 1) };
  }

  /** Another rendition has come further: what was rendered is old. */
  otherRenditionsChanged(): void {
    this.#playlist.invalidate();
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /**
   * Gives back the memory of an ended broadcast's segments that are on the disk.
   *
   * @returns whether all that is listed is there, and can be fetched as long as the store keeps it
   */
  releaseMemory(): boolean {
    return this.#segments.releaseMemory();
  }

  /** Lists only what is in memory from now on, since the store is about to be removed. */
  releaseDisk(): void {
    this.#segments.releaseDisk();
    this.#playlist.segmentListed();
    this.#notifyChange();
  }

  /** What the newest segments weigh: the peak of any one, and all together, in bits a second. */
  measureBandwidth(): { peakBitsPerSecond: number; averageBitsPerSecond: number } {
    return this.#segments.measureBandwidth(this.#firstSequence + this.#leadInCount);
  }

  // ------------------------------------------------------------------------------------------------ reading it

  /** @param query of the request; only the delivery directives in it count */
  async mediaPlaylist(query: URLSearchParams, signal: AbortSignal): Promise<PlaylistAnswer> {
    const { targetDurationSeconds } = this;
    if (!this.isPlayable) return { status: 404, reason: 'there is no segment yet' };
    await this.#waitFor(() => this.#hasHoldBack(), targetDurationSeconds * 1000, signal);
    if (this.#isEnded) return this.#answer('no', false);
    const directives = parseDeliveryDirectives(query);
    if (!directives.ok) return { status: 400, reason: directives.reason };
    const { msn, part, skip } = directives;
    if (msn === undefined) return this.#answer(skip, false);
    if (this.#isTooFarAhead(msn, part)) {
      return { status: 400, reason: 'that is too far ahead' };
    }
    // 6.2.5.2: no request is held for longer than three target durations.
    const hasWaited = !this.#hasReached(msn, part);
    const came = await this.#waitFor(() => this.#hasReached(msn, part), targetDurationSeconds * 3000, signal);
    if (!came) return { status: 503, reason: 'what was asked for did not come' };
    return this.#answer(this.#isEnded ? 'no' : skip, hasWaited);
  }

  /** @param name last part of the address: `init-1.mp4`, `segment-12.m4s`, `still-13.m4s`, `stopped-14.m4s`, `part-345.m4s` */
  media(name: string, signal: AbortSignal): Promise<MediaAnswer> | MediaAnswer {
    if (name.startsWith('part-')) {
      const number = parseNumberIn(name, 'part-', '.m4s');
      const isHinted =
        number === this.#nextPartNumber && !this.#isEnded && this.isPlayable && !this.#endsWithStill;
      return isHinted ? this.#hintedPart(number, name, signal) : this.#part(number, name);
    }
    for (const before of ['segment-', 'still-', 'stopped-']) {
      if (name.startsWith(before)) return this.#segment(parseNumberIn(name, before, '.m4s'), name);
    }
    const number = name.startsWith('init-') ? parseNumberIn(name, 'init-', '.mp4') : undefined;
    const init = number === undefined ? undefined : this.#segments.init(number);
    return init === undefined ? this.#notFound() : this.#found([init.body], init.bytes, name);
  }

  // ------------------------------------------------------------------------------------------------ inside

  /** Other renditions have this segment, and here is nothing yet: the list will begin behind it, and it is the gap that stands there. */
  #startListAt(sequence: number, hasDiscontinuity: boolean): void {
    this.#isDiscontinuityDue = false;
    this.#firstSequence = sequence;
    this.#leadInCount = 1;
    this.#nextSequence = sequence + 1;
    this.#segments.beginAt(sequence, hasDiscontinuity);
  }

  /** Lists a still behind all that is listed; false when none can be made. */
  #listStill(durationSeconds: number, hasStopped = false): boolean {
    this.closeSegment();
    const part = this.#options.filler?.still(durationSeconds, this.nextSequenceNumber());
    if (part === undefined) return false;
    this.#programDateTimes.lastMs = Math.round(this.#endDateMs());
    const segment: MemorySegment = {
      ...this.#newSegment(this.#programDateTimes.lastMs, true),
      isStill: true,
      hasStopped,
    };
    // It can be fetched as a whole only. Shaka (5.2) never plays a still that is given to it as the part that was hinted.
    const held: ListedPart = { ...part, number: -segment.sequence };
    segment.parts.push(held);
    segment.durationSeconds = part.durationSeconds;
    segment.bytes = part.body.length;
    this.#segments.addPart(held);
    this.#stillCount += 1;
    this.#endsWithStill = true;
    this.#listSegment(segment, false);
    return true;
  }

  /** Lists stills for the time between the end of the list and a segment that came in at `arrivedAtMs`, or a break where that is long. */
  #listStillsUntil(arrivedAtMs: number): void {
    this.#isContinuationDue = false;
    const targetMs = this.targetDurationSeconds * 1000;
    let missingMs = arrivedAtMs - this.#endDateMs();
    if (missingMs > 3 * targetMs) {
      this.#isDiscontinuityDue = true;
      return;
    }
    while (missingMs >= minStillMs) {
      const durationMs = Math.min(missingMs, targetMs);
      if (!this.#listStill(durationMs / 1000)) {
        this.#isDiscontinuityDue = true;
        return;
      }
      missingMs -= durationMs;
    }
    // Media that came faster than time passes may end later than now.
    this.#programDateTimes.lastMs = Math.max(this.#programDateTimes.lastMs, Math.round(this.#endDateMs()));
  }

  /** Date of the end of the newest closed segment, in milliseconds since 1970. */
  #endDateMs(): number {
    const { log } = this.#segments;
    const last = this.#nextSequence - 1;
    if (!log.has(last)) return this.#options.clock.nowMs();
    return log.dateMs(last) + log.durationSeconds(last) * 1000;
  }

  #newSegment(dateMs: number, isIndependent: boolean): MemorySegment {
    const segment: MemorySegment = {
      sequence: this.#nextSequence,
      map: this.#segments.map,
      hasDiscontinuity: this.#isDiscontinuityDue,
      isIndependent,
      dateMs,
      parts: [],
      durationSeconds: 0,
      bytes: 0,
      keptUntilMs: undefined,
    };
    this.#isDiscontinuityDue = false;
    return segment;
  }

  /**
   * Lists short segments before the first one. hls.js 1.7 plays no part of a list that has no whole segment, and none of the open segment
   * unless a part is listed before it; the first whole segment takes seconds. A gap would do for hls.js with low latency, but VLC,
   * GStreamer and hls.js without low latency never get past it. Beside other renditions there is one, and it has the number of one that
   * they list before a break: the break stands behind it.
   */
  #listLeadIns({ dateMs, map }: MemorySegment, first: Part): void {
    const count = this.#leadInCount;
    const parts = this.#options.filler?.leadIns(first, count);
    const durationSeconds =
      parts?.[0]?.durationSeconds ?? this.#partTargetSeconds ?? this.targetDurationSeconds;
    for (let index = 0; index < count; index += 1) {
      const sequence = this.#firstSequence + index;
      const startMs = dateMs - Math.round((count - index) * durationSeconds * 1000);
      const segment = { dateMs: startMs, durationSeconds, map, hasDiscontinuity: false };
      const part = parts?.[index];
      if (part === undefined) {
        this.#segments.listGap(sequence, segment);
        continue;
      }
      const listed: ListedPart = { ...part, number: this.#nextPartNumber };
      this.#nextPartNumber += 1;
      this.#segments.addPart(listed);
      const held = { sequence, isIndependent: true, parts: [listed], bytes: part.body.length };
      this.#segments.list({ ...segment, ...held, keptUntilMs: undefined });
    }
  }

  /** What players hold back is there: one that started before would start in the gap, or with too little to go on. */
  #hasHoldBack(): boolean {
    const holdBackSeconds = 3 * (this.#partTargetSeconds ?? 0);
    return (
      this.#nextSequence > this.#firstSequence + this.#leadInCount ||
      (this.#openedSegment?.durationSeconds ?? 0) >= holdBackSeconds
    );
  }

  #listSegment(segment: MemorySegment, isGap: boolean): void {
    this.#nextSequence += 1;
    if (isGap) this.#segments.listGap(segment.sequence, segment);
    else this.#segments.list(segment);
    this.#playlist.segmentListed();
    this.#notifyChange();
  }

  #notifyChange(): void {
    this.#playlist.invalidate();
    this.#options.onChange();
    this.#blockedRequests.wake(this.#isEnded);
  }

  async #waitFor(isReady: () => boolean, limitMs: number, signal: AbortSignal): Promise<boolean> {
    return this.#isEnded || this.#blockedRequests.waitUntil(isReady, limitMs, signal);
  }

  #hasReached(msn: number, part: number | undefined): boolean {
    if (part === undefined || msn < this.#nextSequence) {
      if (msn >= this.#nextSequence) return false;
      // 6.2.5.2: an index past the last part of a closed segment means part 0 of the next. A gap has no parts to wait for.
      const parts = this.#segments.partsOf(msn);
      if (part === undefined || parts === undefined || part < parts.length) return true;
      return this.#hasReached(msn + 1, 0);
    }
    return msn === this.#nextSequence && (this.#openedSegment?.parts.length ?? 0) > part;
  }

  #isTooFarAhead(msn: number, part: number | undefined): boolean {
    if (msn > this.#nextSequence + 1) return true;
    if (part === undefined || msn < this.#nextSequence) return false;
    const target = this.#partTargetSeconds ?? 1;
    // The advance part limit of 6.2.5.2, and a segment's worth more, since hls.js asks for the highest index it has seen.
    const ahead = (target >= 1 ? 3 : Math.ceil(3 / target)) + Math.ceil(this.targetDurationSeconds / target);
    const newest = msn === this.#nextSequence ? (this.#openedSegment?.parts.length ?? 0) - 1 : -1;
    return part > newest + ahead;
  }

  #answer(skip: 'no' | 'yes' | 'v2', hasWaited: boolean): PlaylistAnswer {
    return {
      status: 200,
      text: this.#playlist.text(skip !== 'no' && !this.#isEnded ? 'delta' : 'whole'),
      hasWaited,
      targetDurationSeconds: this.targetDurationSeconds,
      ended: this.#isEnded,
    };
  }

  async #hintedPart(number: number, name: string, signal: AbortSignal): Promise<MediaAnswer> {
    // A part does not come soon once a still is listed instead of it.
    const isSettled = () => this.#nextPartNumber > number || this.#endsWithStill;
    await this.#waitFor(isSettled, this.targetDurationSeconds * 3000, signal);
    return this.#part(number, name);
  }

  #segment(sequence: number | undefined, name: string): MediaAnswer {
    const segment = sequence === undefined ? undefined : this.#segments.segment(sequence);
    return segment === undefined ? this.#notFound() : this.#found(segment.body, segment.bytes, name);
  }

  #part(number: number | undefined, name: string): MediaAnswer {
    const part = number === undefined ? undefined : this.#segments.part(number);
    return part === undefined ? this.#notFound() : this.#found([part.body], part.body.length, name);
  }

  #found(body: readonly (Buffer | FileSlice)[], bytes: number, name: string): MediaAnswer {
    // What a name stands for never changes, so the name and the size tell it apart. Nor does it matter where the bytes are.
    const lifetimeSeconds = Math.ceil(Math.max(6 * this.targetDurationSeconds, this.#segments.listSeconds));
    return {
      status: 200,
      body,
      bytes,
      contentType: 'video/mp4',
      etag: `"${name}-${bytes}"`,
      lifetimeSeconds,
    };
  }

  #notFound(): MediaAnswer {
    return { status: 404 };
  }
}

/** The number between `before` and `behind`, or undefined when the name is another. */
function parseNumberIn(name: string, before: string, behind: string): number | undefined {
  if (!name.endsWith(behind)) return undefined;
  const digits = name.slice(before.length, -behind.length);
  return /^(0|[1-9]\d{0,14})$/.test(digits) ? Number(digits) : undefined;
}
