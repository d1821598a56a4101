import type { RenditionReport } from '../../media/hls/media-playlist.ts';
import { targetDurationFor } from '../broadcast/target-durations.ts';
import type { FillerWriter } from '../packaging/filler-writer.ts';
import type { Part, SegmentSink } from '../packaging/segmenter.ts';
import { PartMemory } from './part-memory.ts';
import type { PartStored } from './part-store.ts';
import { ProgramDateTimes } from './program-date-times.ts';
import {
  type ListedPart,
  type MemorySegment,
  SegmentStore,
  type SegmentStoreOptions,
} from './segment-store.ts';
import { WindowPlaylist } from './window-playlist.ts';
import { WindowRequests } from './window-requests.ts';
import { WindowState } from './window-state.ts';

export interface LiveWindowOptions extends SegmentStoreOptions {
  readonly targetDurationSeconds: number;
  /** Nothing is listed before the keyframe interval is known. */
  readonly learnsTargetDuration?: boolean;
  /** Set for a broadcast that another server began: beyond all its numbers of segments, parts and init sections. */
  readonly continuesAt?: number | undefined;
  onChange(): void;
  otherRenditions?(): readonly RenditionReport[];
  /** Undefined lists gaps. */
  filler?: FillerWriter;
  alignedWith?: LiveWindow | undefined;
}

/** A part whose bytes a subscriber can write to disk instead of the window. */
export interface ClaimablePart extends Part {
  claim(): PartStored;
  /** Keeps `body` readable after the window has dropped it, until the returned function is called, once. */
  hold(): () => void;
}

export interface SegmentInfo {
  readonly sequence: number;
  readonly hasDiscontinuity: boolean;
  /** Decode time of its first frame on the broadcast's clock. */
  readonly startMs: number;
  /** Unix time of `startMs`. */
  readonly programDateTimeMs: number;
}

/** Shorter gaps between segments need no still. */
const minStillMs = 20;
/** First sequence. Not 0: leaves a number for requests for what is gone. */
const firstSequence = 1;
/** GStreamer's hlsdemux2 (1.22) gets lost after a list of one segment, and Shaka (5.2) needs three for captions. */
const leadInCount = 3;
/** Part numbers per sequence number that is left to another server; far more than its segments need. */
const maxPartsPerSequence = 16;

/** Lists one rendition's media. draft-pantos-hls-rfc8216bis-22, 6.2.1 and 6.2.2. */
export class LiveWindow implements SegmentSink {
  readonly requests: WindowRequests;
  readonly #options: LiveWindowOptions;
  readonly #state: WindowState;
  readonly #segments: SegmentStore;
  readonly #playlist: WindowPlaylist;
  readonly #programDateTimes = new ProgramDateTimes();
  #isDiscontinuityDue: boolean;
  readonly #startsMidBroadcast: boolean;
  #fillerCount = 0;
  #hasKeyframeInterval = false;
  #isContinuationDue = false;

  constructor(options: LiveWindowOptions) {
    this.#options = options;
    const { alignedWith, targetDurationSeconds } = options;
    this.#startsMidBroadcast = alignedWith?.isPlayable ?? false;
    this.#isDiscontinuityDue = alignedWith === undefined ? false : alignedWith.#isDiscontinuityDue;
    // Mid-broadcast, one number is left for the lead-in.
    this.#state = new WindowState(
      targetDurationSeconds,
      alignedWith?.isPlayable ? alignedWith.#state.nextSequence - 1 : (options.continuesAt ?? firstSequence),
      options.filler === undefined || this.#startsMidBroadcast ? 1 : leadInCount,
      (options.continuesAt ?? 0) * maxPartsPerSequence,
    );
    this.#state.partTargetSeconds = alignedWith?.partTargetSeconds;
    this.#segments = new SegmentStore(
      {
        ...options,
        isKept: body => options.filler?.keeps(body) ?? false,
        lastInitNumber: options.continuesAt,
      },
      this.#state,
      alignedWith === undefined
        ? (options.continuesAt ?? 0)
        : alignedWith.#segments.nextDiscontinuitySequence,
    );
    this.#playlist = new WindowPlaylist({
      segments: this.#segments,
      state: this.#state,
      otherRenditions: () => options.otherRenditions?.() ?? [],
    });
    this.requests = new WindowRequests(this.#state, this.#segments, this.#playlist);
  }

  get targetDurationSeconds(): number {
    return this.#state.targetDurationSeconds;
  }

  get isTargetDurationFixed(): boolean {
    const isLearned = this.#options.learnsTargetDuration !== true || this.#hasKeyframeInterval;
    return isLearned || this.isPlayable || this.#startsMidBroadcast;
  }

  get partTargetSeconds(): number | undefined {
    return this.#state.partTargetSeconds;
  }

  get isPlayable(): boolean {
    return this.#state.isPlayable;
  }

  get heldBytes(): number {
    return this.#segments.heldBytes;
  }

  get bookkeepingBytes(): number {
    return this.#segments.log.heldBytes + this.#playlist.heldBytes;
  }

  get liveEdge(): { readonly lastMsn: number; readonly lastPart: number } | undefined {
    const { isPlayable, nextSequence, openPartCount } = this.#state;
    if (!isPlayable) return undefined;
    if (openPartCount > 0) return { lastMsn: nextSequence, lastPart: openPartCount - 1 };
    const parts = this.#segments.partsOf(nextSequence - 1)?.length ?? 0;
    return { lastMsn: nextSequence - 1, lastPart: Math.max(0, parts - 1) };
  }

  otherRenditionsChanged(): void {
    this.#playlist.invalidate();
  }

  get segments(): SegmentStore {
    return this.#segments;
  }

  /** @returns true when everything listed is on disk */
  releaseMemory(): boolean {
    this.#options.filler?.releaseMemory();
    return this.#segments.releaseMemory();
  }

  measureBandwidth(): { peakBitsPerSecond: number; averageBitsPerSecond: number } {
    return this.#segments.measureBandwidth(this.#state.firstMediaSequence);
  }

  estimateOpenBitsPerSecond(): number | undefined {
    const open = this.#estimateOpen();
    return open && (open.bytes * 8) / open.durationSeconds;
  }

  /** Peak with the segments before the first one, each of which has its keyframe. 0 when they are listed no more. */
  get leadInBitsPerSecond(): number {
    return this.#segments.peakBefore(this.#state.firstMediaSequence, this.#estimateOpen());
  }

  /**
   * Estimates the open segment, of at least half a target duration: its first part, which holds the keyframe, and the rate
   * of the parts behind it. A part that is alone counts as the rate of all, which is too much.
   */
  #estimateOpen(): { readonly bytes: number; readonly durationSeconds: number } | undefined {
    const [first, ...following] = this.#state.openSegment?.parts ?? [];
    if (first === undefined) return undefined;
    const measured = following.length > 0 ? following : [first];
    const bytes = measured.reduce((sum, part) => sum + part.bytes, 0);
    const seconds = Math.max(
      measured.reduce((sum, part) => sum + part.durationSeconds, 0),
      0.001,
    );
    const durationSeconds = Math.max(first.durationSeconds + seconds, this.targetDurationSeconds / 2);
    return {
      bytes: first.bytes + (bytes / seconds) * (durationSeconds - first.durationSeconds),
      durationSeconds,
    };
  }

  /** Makes room for keyframes that are this far apart, before anything is listed: TARGETDURATION never changes. */
  useKeyframeInterval(seconds: number): void {
    if (this.isPlayable || this.#startsMidBroadcast) return;
    this.#hasKeyframeInterval = true;
    this.#state.targetDurationSeconds = targetDurationFor(seconds, this.targetDurationSeconds);
  }

  fixPartTarget(seconds: number): void {
    this.#state.partTargetSeconds ??= seconds;
  }

  nextSequenceNumber(): number {
    return this.#state.nextPartNumber + this.#state.leadInCount + this.#fillerCount + 1;
  }

  /** The hinted part stays the next one, as 4.4.5.3 demands, with this init section hinted too. */
  useInit(init: Buffer): void {
    const former = this.#segments.initNumber;
    this.#segments.useInit(init);
    if (this.isPlayable && this.#segments.initNumber !== former) this.#notifyChange();
  }

  continueTimeline(): void {
    this.#programDateTimes.restart();
    this.#isContinuationDue = true;
    this.#options.filler?.continueTimeline();
  }

  markDiscontinuity(): void {
    this.#programDateTimes.restart();
    if (this.isPlayable || this.#startsMidBroadcast) this.#isDiscontinuityDue = true;
  }

  /**
   * @param arrivedAtMs wall-clock arrival of its first frame; now by default
   * @param recordedByMs wall-clock time before which later frames show that it was recorded
   */
  openSegment(segment: {
    startMs: number;
    isIndependent: boolean;
    arrivedAtMs?: number;
    recordedByMs?: number;
  }): SegmentInfo {
    const { startMs, isIndependent } = segment;
    const arrivedAtMs = segment.arrivedAtMs ?? this.#options.clock.nowMs();
    if (this.#isContinuationDue) this.#listFillerSegmentsUntil(arrivedAtMs);
    const { date, isLate } = this.#programDateTimes.dateOf(startMs, arrivedAtMs, segment.recordedByMs);
    if (isLate) this.#isDiscontinuityDue = true;
    const { sequence, hasDiscontinuity, dateMs } = this.#newSegment(date, isIndependent);
    const info = { sequence, hasDiscontinuity, startMs, programDateTimeMs: dateMs };
    this.openAlignedSegment(info, isIndependent);
    return info;
  }

  openAlignedSegment(info: SegmentInfo, isIndependent: boolean): void {
    if (this.#state.isEnded) return;
    this.#state.endsWithFiller = false;
    this.#isDiscontinuityDue = info.hasDiscontinuity;
    this.#programDateTimes.lastMs = info.programDateTimeMs;
    this.#state.openSegment = this.#newSegment(info.programDateTimeMs, isIndependent);
  }

  /** @returns the part as it is listed */
  addPart(added: Part): ClaimablePart {
    const open = this.#state.openSegment;
    if (open === undefined) return { ...added, claim: () => () => {}, hold: () => () => {} };
    const part = this.#options.filler?.add(added) ?? added;
    if (!this.isPlayable) this.#listLeadIns(open, part);
    const listed = this.#numberPart(part, open.sequence);
    open.parts.push(listed);
    open.durationSeconds += part.durationSeconds;
    open.bytes += part.body.length;
    this.#notifyChange();
    return { ...part, claim: () => this.#segments.claim(listed), hold: () => listed.memory.hold() };
  }

  closeSegment(): void {
    const open = this.#state.openSegment;
    this.#state.openSegment = undefined;
    if (open === undefined) return;
    if (open.parts.length > 0) this.#listSegment(open, false);
    else this.#isDiscontinuityDue ||= open.hasDiscontinuity;
  }

  end(): void {
    if (this.#state.isEnded) return;
    this.closeSegment();
    // video.js and Shaka notice an end only with media that comes together with it.
    if (this.isPlayable) this.#listFillerSegment(this.partTargetSeconds ?? 1);
    this.#state.isEnded = true;
    this.#notifyChange();
  }

  /** Lists nothing more: another server continues the list. */
  leave(): void {
    this.closeSegment();
    this.requests.left();
  }

  #newSegment(dateMs: number, isIndependent: boolean): MemorySegment {
    const segment: MemorySegment = {
      sequence: this.#state.nextSequence,
      initNumber: this.#segments.initNumber,
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

  #numberPart(part: Part, sequence: number): ListedPart {
    const listed = createListedPart(part, this.#state.nextPartNumber, sequence);
    this.#state.nextPartNumber += 1;
    this.#segments.addPart(listed);
    return listed;
  }

  #listSegment(segment: MemorySegment, isGap: boolean): void {
    this.#state.nextSequence += 1;
    if (isGap) this.#segments.listGap(segment.sequence, segment);
    else this.#segments.list(segment);
    this.#playlist.segmentListed();
    this.#notifyChange();
  }

  #notifyChange(): void {
    this.#playlist.invalidate();
    this.#options.onChange();
    this.requests.changed();
  }

  /** Keeps players polling. @param hasStopped the publisher stopped, and its connection was not lost */
  addGap(durationSeconds: number, hasStopped = false): void {
    this.closeSegment();
    if (!this.isPlayable) {
      this.#startListAt(this.#state.nextSequence, this.#isDiscontinuityDue);
      return;
    }
    this.#programDateTimes.lastMs = Math.round(this.#endDateMs());
    const gap = this.#newSegment(this.#programDateTimes.lastMs, false);
    this.#listSegment({ ...gap, durationSeconds, hasStopped }, true);
  }

  addFillerSegment(durationSeconds: number, hasStopped = false): void {
    if (!this.isPlayable || !this.#listFillerSegment(durationSeconds, hasStopped)) {
      this.addGap(durationSeconds, hasStopped);
    }
  }

  addMissingSegment(info: SegmentInfo, durationSeconds: number): void {
    if (this.#state.isEnded) return;
    if (!this.isPlayable) {
      this.#startListAt(info.sequence, info.hasDiscontinuity);
      return;
    }
    this.#isDiscontinuityDue = info.hasDiscontinuity;
    this.#programDateTimes.lastMs = info.programDateTimeMs;
    this.#listSegment({ ...this.#newSegment(info.programDateTimeMs, false), durationSeconds }, true);
  }

  #startListAt(sequence: number, hasDiscontinuity: boolean): void {
    this.#isDiscontinuityDue = false;
    this.#state.firstSequence = sequence;
    this.#state.leadInCount = 1;
    this.#state.nextSequence = sequence + 1;
    this.#segments.beginAt(sequence, hasDiscontinuity);
  }

  #listFillerSegment(durationSeconds: number, hasStopped = false): boolean {
    this.closeSegment();
    const part = this.#options.filler?.fillerPart(durationSeconds, this.nextSequenceNumber());
    if (part === undefined) return false;
    this.#programDateTimes.lastMs = Math.round(this.#endDateMs());
    const segment = this.#newSegment(this.#programDateTimes.lastMs, true);
    // Served only as a whole: Shaka (5.2) never plays a still that it gets as the hinted part.
    const held = createListedPart(part, -segment.sequence, segment.sequence);
    this.#segments.addPart(held);
    this.#fillerCount += 1;
    this.#state.endsWithFiller = true;
    this.#listSegment(
      {
        ...segment,
        isFiller: true,
        hasStopped,
        parts: [held],
        durationSeconds: part.durationSeconds,
        bytes: part.body.length,
      },
      false,
    );
    return true;
  }

  /** Fills the time before a segment with filler segments, or marks a discontinuity if it is long. */
  #listFillerSegmentsUntil(arrivedAtMs: number): void {
    this.#isContinuationDue = false;
    const targetMs = this.targetDurationSeconds * 1000;
    let missingMs = arrivedAtMs - this.#endDateMs();
    if (missingMs > 3 * targetMs) {
      this.#isDiscontinuityDue = true;
      return;
    }
    while (missingMs >= minStillMs) {
      const durationMs = Math.min(missingMs, targetMs);
      if (!this.#listFillerSegment(durationMs / 1000)) {
        this.#isDiscontinuityDue = true;
        return;
      }
      missingMs -= durationMs;
    }
    this.#programDateTimes.lastMs = Math.max(this.#programDateTimes.lastMs, Math.round(this.#endDateMs()));
  }

  #endDateMs(): number {
    const { log } = this.#segments;
    const last = this.#state.nextSequence - 1;
    if (!log.has(last)) return this.#options.clock.nowMs();
    return log.dateMs(last) + log.durationSeconds(last) * 1000;
  }

  /**
   * Lists short segments before the first one, which takes seconds. hls.js 1.7 plays no part before a whole segment,
   * nor of the open segment without a part before it. VLC, GStreamer and hls.js without low latency never get past a
   * gap. A window that starts mid-broadcast has one, numbered as a segment before a discontinuity.
   */
  #listLeadIns({ dateMs, initNumber }: MemorySegment, first: Part): void {
    const { leadInCount: count, firstSequence: from, partTargetSeconds } = this.#state;
    const parts = this.#options.filler?.leadIns(first, count);
    const durationSeconds = parts?.[0]?.durationSeconds ?? partTargetSeconds ?? this.targetDurationSeconds;
    for (let index = 0; index < count; index += 1) {
      const sequence = from + index;
      const startMs = dateMs - Math.round((count - index) * durationSeconds * 1000);
      const hasDiscontinuity = index === 0 && this.#options.continuesAt !== undefined;
      const segment = { dateMs: startMs, durationSeconds, initNumber, hasDiscontinuity };
      const part = parts?.[index];
      if (part === undefined) {
        this.#segments.listGap(sequence, segment);
        continue;
      }
      const held = {
        sequence,
        isIndependent: true,
        parts: [this.#numberPart(part, sequence)],
        bytes: part.body.length,
      };
      this.#segments.list({ ...segment, ...held, keptUntilMs: undefined });
    }
  }
}

function createListedPart(
  { body, durationSeconds, isIndependent }: Part,
  number: number,
  sequence: number,
): ListedPart {
  return {
    number,
    sequence,
    body,
    bytes: body.length,
    durationSeconds,
    isIndependent,
    location: undefined,
    memory: new PartMemory(body),
    isClaimed: false,
  };
}
