/**
 * The listed part of one rendition of a broadcast: what is new in memory, what is older on disk.
 *
 * **Source**: draft-pantos-hls-rfc8216bis-22: 4.4.3 (what a media playlist says of itself), 4.4.4.9 (parts), 4.4.5.3 (preload hints),
 * 6.2.1 and 6.2.2 (changing and removing), 6.2.5 (delivery directives).
 */
import {
  formatMediaPlaylist,
  type MediaPlaylist,
  type MediaSegment,
  type RenditionReport,
} from '../hls/media-playlist.ts';
import { parseReloadDirectives } from '../hls/reload-directives.ts';
import type { Clock } from '../shared/clock.ts';
import type { AnswerText } from '../shared/joined-text.ts';
import { RenderedText } from '../shared/rendered-text.ts';
import { ListedText } from './listed-text.ts';
import type { DiskSlice, RewindStore } from './rewind-store.ts';
import { SegmentLog } from './segment-log.ts';
import type { Part, SegmentSink } from './segmenter.ts';

/** Answer to a request for the media playlist. */
export type PlaylistAnswer =
  | {
      readonly status: 200;
      readonly text: AnswerText;
      /** The query named what it waits for, so that its address names the content. */
      readonly blocking: boolean;
      readonly targetDurationSeconds: number;
      readonly ended: boolean;
    }
  | { readonly status: 400 | 404 | 503; readonly reason: string; readonly targetDurationSeconds: number };

/** Answer to a request for an init section, a segment or a part. */
export type MediaAnswer =
  | {
      readonly status: 200;
      readonly body: readonly (Buffer | DiskSlice)[];
      readonly bytes: number;
      readonly contentType: string;
      readonly etag: string;
      readonly lifetimeSeconds: number;
    }
  | { readonly status: 404; readonly targetDurationSeconds: number };

/** What a window is made with. */
export interface LiveWindowOptions {
  readonly targetDurationSeconds: number;
  /** How much is listed, in seconds; six segments and three target durations stay listed whatever this says. */
  readonly windowSeconds: number;
  /** What listed and just removed segments may take together; three target durations stay listed all the same. */
  readonly maxBytes: number;
  /** Where segments go that leave the memory, and how much is listed then, in seconds. */
  readonly rewind?: { readonly seconds: number; readonly store: RewindStore };
  readonly clock: Clock;
  /** Something new can be fetched. */
  onChange(): void;
  /** How far the other renditions have come. */
  otherRenditions?(): readonly RenditionReport[];
  /** The window that this one begins beside: its numbers go on from there. */
  beside?: LiveWindow | undefined;
}

/** What is the same of a segment in all renditions. */
export interface SegmentFacts {
  readonly sequence: number;
  readonly hasDiscontinuity: boolean;
  /** Decoding time of its first frame on the broadcast's clock. */
  readonly startMs: number;
  /** Milliseconds since 1970 of `startMs`. */
  readonly programDateTimeMs: number;
}

interface ListedPart {
  readonly number: number;
  readonly body: Buffer;
  readonly durationSeconds: number;
  readonly isIndependent: boolean;
}

/** A segment in memory. */
interface HeldSegment {
  readonly sequence: number;
  /** Number of its init section. */
  readonly map: number;
  readonly hasDiscontinuity: boolean;
  readonly isIndependent: boolean;
  readonly dateMs: number;
  readonly parts: ListedPart[];
  durationSeconds: number;
  bytes: number;
  /** When it leaves the memory; undefined while it is listed. */
  untilMs: number | undefined;
}

interface InitSection {
  readonly bytes: number;
  /** Undefined when it is on the disk alone. */
  body: Buffer | undefined;
  isKept: boolean;
}

interface Waiter {
  readonly isReady: () => boolean;
  readonly resolve: () => void;
}

/** Apple's advice for live playlists (HLS Authoring Specification, 8.11). */
const leastListedSegments = 6;
/** Not 0, so that there is a number before the first for those who ask for what is gone. */
const firstSequence = 1;
/** Dates may fall this far behind the clock before they are set anew. */
const mostDateLagMs = 4000;
/** 6.2.2: parts are listed for three target durations and a segment, and can be fetched for three more. */
const targetsWithParts = 7.5;
/** What bandwidth is measured over. */
const measuredSegments = 64;
/** Sums of durations are not exact. */
const tinySeconds = 1e-6;

/** Parts, segments and init sections of one broadcast, the playlist over them, and everyone who waits for what comes next. */
export class LiveWindow implements SegmentSink {
  readonly targetDurationSeconds: number;
  readonly #options: LiveWindowOptions;
  readonly #store: RewindStore | undefined;
  /** How much is listed, and how much of that is in memory at least. */
  readonly #listSeconds: number;
  readonly #memorySeconds: number;
  readonly #inits = new Map<number, InitSection>();
  /** Number of the init section that is in use. */
  #map = 0;
  /** Closed segments, listed or not any more. */
  readonly #log = new SegmentLog();
  readonly #listed = new ListedText((from, end) => this.#entries(from, end));
  /** The first one listed; {@link #nextSequence} when there is none. */
  #first: number;
  #listedSeconds = 0;
  /** Listed segments that nobody can begin with. */
  #dependentCount = 0;
  /** Segments before this one are out of the memory, or about to be. */
  #memoryFrom: number;
  #open: HeldSegment | undefined;
  /** By number, oldest first: those that are listed, and those that were and have their time to stay. */
  readonly #held = new Map<number, HeldSegment>();
  #partsByNumber = new Map<number, ListedPart>();
  /** The leading gap's. */
  #firstSequence: number;
  #nextSequence: number;
  #nextPartNumber = 0;
  #discontinuitySequence = 0;
  #discontinuityIsDue = false;
  #partTargetSeconds: number | undefined;
  #heldBytes = 0;
  #longestListSeconds = 0;
  #ended = false;
  #anchor: { wallMs: number; mediaMs: number } | undefined;
  #lastProgramDateTimeMs = 0;
  readonly #waiters = new Set<Waiter>();
  readonly #rendered = new Map<string, AnswerText>();

  constructor(options: LiveWindowOptions) {
    this.#options = options;
    this.targetDurationSeconds = options.targetDurationSeconds;
    this.#store = options.rewind?.store;
    this.#listSeconds = Math.max(options.windowSeconds, options.rewind?.seconds ?? 0);
    this.#memorySeconds = Math.max(options.windowSeconds, targetsWithParts * options.targetDurationSeconds);
    const { beside } = options;
    this.#firstSequence = beside?.isPlayable ? beside.#nextSequence - 1 : firstSequence;
    this.#nextSequence = this.#firstSequence + 1;
    this.#first = this.#firstSequence;
    this.#memoryFrom = this.#firstSequence;
    if (beside === undefined) return;
    this.#partTargetSeconds = beside.#partTargetSeconds;
    this.#discontinuitySequence = beside.#discontinuitySequence;
    for (let sequence = beside.#first; sequence < beside.#log.end; sequence += 1) {
      if (beside.#log.hasDiscontinuity(sequence)) this.#discontinuitySequence += 1;
    }
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
    return this.#heldBytes;
  }

  /** Bytes of memory that it takes to know where segments are and to list them, beside the segments themselves. */
  get bookkeepingBytes(): number {
    return this.#log.heldBytes + this.#listed.heldBytes;
  }

  fixPartTarget(seconds: number): void {
    this.#partTargetSeconds ??= seconds;
  }

  nextSequenceNumber(): number {
    return this.#nextPartNumber + 1;
  }

  /** Segments from now on need this init section. The same bytes keep their name. */
  useInit(init: Buffer): void {
    const former = this.#inits.get(this.#map);
    if (former?.body?.equals(init)) return;
    if (former?.isKept) former.body = undefined;
    this.#map += 1;
    const number = this.#map;
    const section: InitSection = { bytes: init.length, body: init, isKept: false };
    this.#inits.set(number, section);
    this.#store?.keepInit(number, init, () => {
      section.isKept = true;
      if (number !== this.#map) section.body = undefined;
    });
  }

  /** The next segment follows a break: another publisher connection, another packager, a clock that was set. */
  breakTimeline(): void {
    this.#anchor = undefined;
    if (this.isPlayable) this.#discontinuityIsDue = true;
  }

  /**
   * @param arrivedAtMs wall-clock time at which its first frame came in; now unless given
   * @returns what the same segment of other renditions has from it
   */
  openSegment(segment: { startMs: number; isIndependent: boolean; arrivedAtMs?: number }): SegmentFacts {
    const { startMs, isIndependent } = segment;
    const date = this.#dateOf(startMs, segment.arrivedAtMs ?? this.#options.clock.nowMs());
    const { sequence, hasDiscontinuity, dateMs } = this.#newSegment(date, isIndependent);
    const facts = { sequence, hasDiscontinuity, startMs, programDateTimeMs: dateMs };
    this.openSegmentAs(facts, isIndependent);
    return facts;
  }

  /** Opens a segment with the number, date and break that another rendition gave it. */
  openSegmentAs(facts: SegmentFacts, isIndependent: boolean): void {
    if (this.#ended) return;
    this.#discontinuityIsDue = facts.hasDiscontinuity;
    this.#lastProgramDateTimeMs = facts.programDateTimeMs;
    this.#open = this.#newSegment(facts.programDateTimeMs, isIndependent);
  }

  addPart(part: Part): void {
    const open = this.#open;
    if (open === undefined) return;
    if (!this.isPlayable) this.#listLeadingGap(open);
    const listed: ListedPart = { ...part, number: this.#nextPartNumber };
    this.#nextPartNumber += 1;
    open.parts.push(listed);
    open.durationSeconds += part.durationSeconds;
    open.bytes += part.body.length;
    this.#heldBytes += part.body.length;
    this.#partsByNumber.set(listed.number, listed);
    this.#changed();
  }

  closeSegment(): void {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return;
    if (open.parts.length === 0) {
      this.#discontinuityIsDue ||= open.hasDiscontinuity;
      return;
    }
    this.#held.set(open.sequence, open);
    this.#list(open, false);
    const { sequence, bytes, durationSeconds } = open;
    const body = open.parts.map(part => part.body);
    this.#store?.keepSegment({ sequence, body, bytes, durationSeconds }, ({ chunk, offset }) =>
      this.#log.setPlace(sequence, chunk, offset),
    );
  }

  /** Nobody publishes: the list grows by a segment that is not there, so that players go on asking. */
  addGap(durationSeconds: number): void {
    this.closeSegment();
    const last = this.#nextSequence - 1;
    const startMs = this.#log.has(last)
      ? this.#log.dateMs(last) + this.#log.durationSeconds(last) * 1000
      : this.#options.clock.nowMs();
    this.#lastProgramDateTimeMs = Math.round(startMs);
    const gap = this.#newSegment(this.#lastProgramDateTimeMs, false);
    gap.durationSeconds = durationSeconds;
    this.#list(gap, true);
  }

  /** A segment that another rendition has, and of which this one has nothing. */
  addMissing(facts: SegmentFacts, durationSeconds: number): void {
    if (this.#ended) return;
    if (!this.isPlayable) {
      // The list will begin with the next one, and the gap before that is this one.
      if (facts.hasDiscontinuity) this.#discontinuitySequence += 1;
      this.#firstSequence = facts.sequence;
      this.#nextSequence = facts.sequence + 1;
      this.#first = this.#firstSequence;
      this.#memoryFrom = this.#firstSequence;
      return;
    }
    this.#discontinuityIsDue = facts.hasDiscontinuity;
    this.#lastProgramDateTimeMs = facts.programDateTimeMs;
    const missing = this.#newSegment(facts.programDateTimeMs, false);
    missing.durationSeconds = durationSeconds;
    this.#list(missing, true);
  }

  /** The broadcast is over: the list ends, and everyone who waits is answered. */
  end(): void {
    if (this.#ended) return;
    this.closeSegment();
    this.#ended = true;
    this.#changed();
  }

  /** How far it has come, for the lists of other renditions; undefined while it has no list. */
  get edge(): { readonly lastMsn: number; readonly lastPart: number } | undefined {
    if (!this.isPlayable) return undefined;
    const open = this.#open;
    if (open !== undefined && open.parts.length > 0) {
      return { lastMsn: this.#nextSequence, lastPart: open.parts.length - 1 };
    }
    const parts = this.#held.get(this.#nextSequence - 1)?.parts.length ?? 0;
    return { lastMsn: this.#nextSequence - 1, lastPart: Math.max(0, parts - 1) };
  }

  /** Another rendition has come further: what was rendered is old. */
  otherChanged(): void {
    this.#rendered.clear();
  }

  get ended(): boolean {
    return this.#ended;
  }

  /**
   * Gives back the memory of an ended broadcast's segments that are on the disk.
   *
   * @returns whether all that is listed is there, and can be fetched as long as the store keeps it
   */
  leaveMemory(): boolean {
    if (this.#store === undefined) return false;
    for (const segment of [...this.#held.values()]) {
      if (segment.untilMs !== undefined || this.#log.place(segment.sequence) !== undefined)
        this.#drop(segment);
    }
    for (const section of this.#inits.values()) if (section.isKept) section.body = undefined;
    return this.#held.size === 0 && [...this.#inits.values()].every(section => section.isKept);
  }

  /** What the newest segments weigh: the peak of any one, and all together, in bits a second. */
  measureBandwidth(): { peakBitsPerSecond: number; averageBitsPerSecond: number } {
    let peak = 0;
    let bytes = 0;
    let seconds = 0;
    const log = this.#log;
    const end = this.#nextSequence;
    for (let sequence = Math.max(this.#first, end - measuredSegments); sequence < end; sequence += 1) {
      if (!log.has(sequence) || log.isGap(sequence)) continue;
      const durationSeconds = log.durationSeconds(sequence);
      bytes += log.bytes(sequence);
      seconds += durationSeconds;
      // 4.1: the peak is over runs of at least half a target duration; the short first segment is none.
      if (durationSeconds * 2 < this.targetDurationSeconds) continue;
      peak = Math.max(peak, (log.bytes(sequence) * 8) / durationSeconds);
    }
    const average = seconds === 0 ? 0 : (bytes * 8) / seconds;
    return { peakBitsPerSecond: Math.max(peak, average), averageBitsPerSecond: average };
  }

  // ------------------------------------------------------------------------------------------------ reading it

  /** @param query of the request; only the delivery directives in it count */
  async mediaPlaylist(query: URLSearchParams, signal: AbortSignal): Promise<PlaylistAnswer> {
    const { targetDurationSeconds } = this;
    if (!this.isPlayable) return { status: 404, reason: 'there is no segment yet', targetDurationSeconds };
    await this.#waitFor(() => this.#canStart(), targetDurationSeconds * 1000, signal);
    if (this.#ended) return this.#answer('no', false);
    const directives = parseReloadDirectives(query);
    if (!directives.ok) return { status: 400, reason: directives.reason, targetDurationSeconds };
    const { msn, part, skip } = directives;
    if (msn === undefined) return this.#answer(skip, false);
    if (this.#isTooFar(msn, part)) {
      return { status: 400, reason: 'that is too far ahead', targetDurationSeconds };
    }
    // 6.2.5.2: no request is held for longer than three target durations.
    const came = await this.#waitFor(() => this.#hasReached(msn, part), targetDurationSeconds * 3000, signal);
    if (!came) return { status: 503, reason: 'what was asked for did not come', targetDurationSeconds };
    return this.#answer(this.#ended ? 'no' : skip, true);
  }

  /** @param name last part of the address: `init-1.mp4`, `segment-12.m4s`, `part-345.m4s` */
  media(name: string, signal: AbortSignal): Promise<MediaAnswer> | MediaAnswer {
    if (name.startsWith('part-')) {
      const number = wholeNumber(name, 'part-', '.m4s');
      const isHinted = number === this.#nextPartNumber && !this.#ended && this.isPlayable;
      return isHinted ? this.#hintedPart(number, name, signal) : this.#part(number, name);
    }
    if (name.startsWith('segment-')) return this.#segment(wholeNumber(name, 'segment-', '.m4s'), name);
    const number = name.startsWith('init-') ? wholeNumber(name, 'init-', '.mp4') : undefined;
    const init = number === undefined ? undefined : this.#inits.get(number);
    if (number === undefined || init === undefined) return this.#notFound();
    const body = init.body ?? this.#store?.init(number, init.bytes);
    return body === undefined ? this.#notFound() : this.#found([body], init.bytes, name);
  }

  // ------------------------------------------------------------------------------------------------ inside

  #newSegment(dateMs: number, isIndependent: boolean): HeldSegment {
    const segment: HeldSegment = {
      sequence: this.#nextSequence,
      map: this.#map,
      hasDiscontinuity: this.#discontinuityIsDue,
      isIndependent,
      dateMs,
      parts: [],
      durationSeconds: 0,
      bytes: 0,
      untilMs: undefined,
    };
    this.#discontinuityIsDue = false;
    return segment;
  }

  /**
   * hls.js 1.7 plays no part of a list that has no whole segment, and none of the open segment unless a part is listed before it. The
   * first whole segment takes seconds, so one that is not there, and is one part that is not there, stands before it.
   */
  #listLeadingGap(first: HeldSegment): void {
    const durationSeconds = this.#partTargetSeconds ?? this.targetDurationSeconds;
    this.#log.append(this.#firstSequence, {
      dateMs: first.dateMs - Math.round(durationSeconds * 1000),
      durationSeconds,
      map: first.map,
      bytes: 0,
      isGap: true,
      isIndependent: false,
      hasDiscontinuity: first.hasDiscontinuity,
    });
    this.#listedSeconds += durationSeconds;
  }

  /** What players hold back is there: one that started before would start in the gap, or with too little to go on. */
  #canStart(): boolean {
    const holdBackSeconds = 3 * (this.#partTargetSeconds ?? 0);
    return (
      this.#nextSequence > this.#firstSequence + 1 || (this.#open?.durationSeconds ?? 0) >= holdBackSeconds
    );
  }

  #list(segment: HeldSegment, isGap: boolean): void {
    this.#log.append(segment.sequence, { ...segment, isGap });
    this.#listedSeconds += segment.durationSeconds;
    if (!isGap && !segment.isIndependent) this.#dependentCount += 1;
    this.#nextSequence += 1;
    this.#shorten();
    this.#longestListSeconds = Math.max(this.#longestListSeconds, this.#listedSeconds);
    this.#changed();
  }

  /**
   * Dates follow the media from one anchor. A publisher that sends faster than time passes would bring them into the future, where some
   * players stop loading: a segment is never dated later than it came in. One that lost time (a network that stood still, a clock that was
   * set) would leave them behind for good: the list says that time was lost, and dates start anew.
   */
  #dateOf(startMs: number, nowMs: number): number {
    const notBeforeMs = Math.max(nowMs, this.#lastProgramDateTimeMs);
    this.#anchor ??= { wallMs: notBeforeMs, mediaMs: startMs };
    let date = this.#anchor.wallMs + (startMs - this.#anchor.mediaMs);
    const isLate = nowMs - date > mostDateLagMs;
    if (date > nowMs || isLate) {
      if (isLate) this.#discontinuityIsDue = true;
      date = notBeforeMs;
      this.#anchor = { wallMs: date, mediaMs: startMs };
    }
    this.#lastProgramDateTimeMs = date;
    return Math.round(date);
  }

  #shorten(): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#store !== undefined) this.#leaveToDisk(nowMs);
    while (this.#first < this.#nextSequence) {
      const rest = this.#listedSeconds - this.#log.durationSeconds(this.#first);
      // 6.2.2: removal leaves three target durations.
      if (rest < 3 * this.targetDurationSeconds - tinySeconds) break;
      const count = this.#nextSequence - this.#first;
      const isLongEnough = rest >= this.#listSeconds - tinySeconds && count > leastListedSegments;
      const isTooMuch = this.#heldBytes > this.#options.maxBytes && this.#store === undefined;
      if (!isLongEnough && !isTooMuch) break;
      this.#retireFirst(nowMs);
    }
    for (const segment of [...this.#held.values()]) {
      if (segment.untilMs === undefined) break;
      if (segment.untilMs <= nowMs || this.#heldBytes > this.#options.maxBytes) this.#drop(segment);
    }
    this.#forget(nowMs);
    this.#listed.settle(this.#first, this.#store === undefined ? 0 : this.#memoryFrom);
  }

  /** What is on the disk leaves the memory. What should be and is not ends the list: what stood before it goes too. */
  #leaveToDisk(nowMs: number): void {
    const { maxBytes } = this.#options;
    const leastSeconds = 3 * this.targetDurationSeconds - tinySeconds;
    let seconds = 0;
    let bytes = 0;
    let from = this.#nextSequence;
    for (; from > Math.max(this.#first, this.#memoryFrom); from -= 1) {
      bytes += this.#held.get(from - 1)?.bytes ?? 0;
      const isLongEnough =
        seconds >= this.#memorySeconds - tinySeconds && this.#nextSequence - from >= leastListedSegments;
      if (seconds >= leastSeconds && (isLongEnough || bytes > maxBytes)) break;
      seconds += this.#log.durationSeconds(from - 1);
    }
    for (; this.#memoryFrom < from; this.#memoryFrom += 1) {
      const segment = this.#held.get(this.#memoryFrom);
      if (segment === undefined || segment.untilMs !== undefined) continue;
      if (this.#log.place(segment.sequence) !== undefined) {
        this.#drop(segment);
        continue;
      }
      this.#store?.giveUp(segment.sequence);
      while (this.#first <= segment.sequence) this.#retireFirst(nowMs);
    }
  }

  #retireFirst(nowMs: number): void {
    const log = this.#log;
    const sequence = this.#first;
    const durationSeconds = log.durationSeconds(sequence);
    this.#first += 1;
    this.#listedSeconds -= durationSeconds;
    if (!log.canBeJoined(sequence)) this.#dependentCount -= 1;
    // 6.2.2: the number grows when the tag leaves the list, with the segment it stood before.
    if (log.hasDiscontinuity(sequence)) this.#discontinuitySequence += 1;
    // 6.2.2: it stays for its own duration and that of the longest list that held it.
    log.setUntil(sequence, nowMs + (durationSeconds + this.#longestListSeconds) * 1000);
    const held = this.#held.get(sequence);
    if (held === undefined) return;
    const heldSeconds =
      this.#store === undefined
        ? this.#longestListSeconds
        : Math.min(this.#longestListSeconds, this.#memorySeconds);
    held.untilMs = nowMs + (durationSeconds + heldSeconds) * 1000;
  }

  #drop(segment: HeldSegment): void {
    this.#held.delete(segment.sequence);
    this.#heldBytes -= segment.bytes;
    for (const part of segment.parts) this.#partsByNumber.delete(part.number);
  }

  /** Segments whose time to stay is over, and init sections that no segment needs. */
  #forget(nowMs: number): void {
    const log = this.#log;
    while (log.first < this.#first && !this.#held.has(log.first) && log.untilMs(log.first) <= nowMs) {
      log.dropFirst();
    }
    const oldestMap = log.first < log.end ? log.map(log.first) : this.#map;
    for (const number of this.#inits.keys()) {
      if (number >= oldestMap) break;
      this.#inits.delete(number);
    }
    this.#store?.removeBefore(log.first, oldestMap);
  }

  #changed(): void {
    this.#rendered.clear();
    this.#options.onChange();
    for (const waiter of [...this.#waiters]) {
      if (!this.#ended && !waiter.isReady()) continue;
      this.#waiters.delete(waiter);
      waiter.resolve();
    }
  }

  async #waitFor(isReady: () => boolean, limitMs: number, signal: AbortSignal): Promise<boolean> {
    if (this.#ended || isReady()) return true;
    if (signal.aborted) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter: Waiter = { isReady, resolve: () => resolve(true) };
    const giveUp = () => resolve(false);
    const timer = setTimeout(giveUp, limitMs);
    signal.addEventListener('abort', giveUp, { once: true });
    this.#waiters.add(waiter);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      this.#waiters.delete(waiter);
    }
  }

  #hasReached(msn: number, part: number | undefined): boolean {
    if (part === undefined || msn < this.#nextSequence) {
      if (msn >= this.#nextSequence) return false;
      // 6.2.5.2: an index past the last part of a closed segment means part 0 of the next. A gap has no parts to wait for.
      const parts = this.#held.get(msn)?.parts;
      if (part === undefined || parts === undefined || part < parts.length) return true;
      return this.#hasReached(msn + 1, 0);
    }
    return msn === this.#nextSequence && (this.#open?.parts.length ?? 0) > part;
  }

  #isTooFar(msn: number, part: number | undefined): boolean {
    if (msn > this.#nextSequence + 1) return true;
    if (part === undefined || msn < this.#nextSequence) return false;
    const target = this.#partTargetSeconds ?? 1;
    // The advance part limit of 6.2.5.2, and a segment's worth more, since hls.js asks for the highest index it has seen.
    const ahead = (target >= 1 ? 3 : Math.ceil(3 / target)) + Math.ceil(this.targetDurationSeconds / target);
    const newest = msn === this.#nextSequence ? (this.#open?.parts.length ?? 0) - 1 : -1;
    return part > newest + ahead;
  }

  #answer(skip: 'no' | 'yes' | 'v2', blocking: boolean): PlaylistAnswer {
    const delta = skip !== 'no' && !this.#ended;
    const key = delta ? 'delta' : 'full';
    let text = this.#rendered.get(key);
    if (text === undefined) {
      text = delta
        ? this.#deltaText()
        : this.#listed.whole(this.#playlist(), this.#first, this.#nextSequence);
      this.#rendered.set(key, text);
    }
    return {
      status: 200,
      text,
      blocking,
      targetDurationSeconds: this.targetDurationSeconds,
      ended: this.#ended,
    };
  }

  #deltaText(): AnswerText {
    const kept = this.#firstKept();
    if (kept === this.#first) return this.#listed.whole(this.#playlist(), this.#first, this.#nextSequence);
    const segments = this.#entries(kept, this.#nextSequence);
    const skippedSegments = kept - this.#first;
    return new RenderedText(formatMediaPlaylist({ ...this.#playlist(), skippedSegments, segments }));
  }

  /** All but the segments. */
  #playlist(): Omit<MediaPlaylist, 'segments'> {
    const target = this.targetDurationSeconds;
    const partTarget = this.#partTargetSeconds ?? target;
    const open = this.#open;
    return {
      targetDurationSeconds: target,
      mediaSequence: this.#first,
      discontinuitySequence: this.#discontinuitySequence,
      independentSegments: this.#dependentCount === 0 && (open?.isIndependent ?? true),
      serverControl: {
        canBlockReload: true,
        partHoldBackSeconds: partTarget * 3,
        holdBackSeconds: target * 3,
        canSkipUntilSeconds: target * 6,
      },
      partTargetSeconds: partTarget,
      openParts: this.#ended || open === undefined || open.parts.length === 0 ? undefined : openEntry(open),
      preloadHints: this.#ended ? [] : this.#hints(),
      renditionReports: this.#options.otherRenditions?.() ?? [],
      endList: this.#ended,
    };
  }

  #hints(): MediaPlaylist['preloadHints'] {
    const part = { type: 'PART' as const, uri: `part-${this.#nextPartNumber}.m4s` };
    const last = this.#nextSequence - 1;
    const listedMap = this.#open?.parts.length
      ? this.#open.map
      : this.#log.has(last)
        ? this.#log.map(last)
        : undefined;
    return listedMap === this.#map ? [part] : [{ type: 'MAP' as const, uri: mapUri(this.#map) }, part];
  }

  /** The first segment that no delta update leaves out. */
  #firstKept(): number {
    let behind = 0;
    for (let sequence = this.#nextSequence - 1; sequence >= this.#first; sequence -= 1) {
      if (behind >= this.targetDurationSeconds * 6) return sequence + 1;
      behind += this.#log.durationSeconds(sequence);
    }
    return this.#first;
  }

  /** Parts are listed in the last three target durations. */
  #firstWithParts(): number {
    if (this.#ended) return this.#nextSequence;
    let behind = this.#open?.durationSeconds ?? 0;
    for (let sequence = this.#nextSequence - 1; sequence >= this.#first; sequence -= 1) {
      if (behind > this.targetDurationSeconds * 3) return sequence + 1;
      behind += this.#log.durationSeconds(sequence);
    }
    return this.#first;
  }

  /** Closed segments from `from` on, and before `end`, as they are listed. */
  #entries(from: number, end: number, partsFrom = this.#firstWithParts()): MediaSegment[] {
    const log = this.#log;
    const entries: MediaSegment[] = [];
    for (let sequence = Math.max(from, log.first); sequence < end; sequence += 1) {
      const gap = log.isGap(sequence);
      entries.push({
        uri: gap ? `gap-${sequence}.m4s` : `segment-${sequence}.m4s`,
        durationSeconds: log.durationSeconds(sequence),
        discontinuity: log.hasDiscontinuity(sequence),
        gap,
        map: { uri: mapUri(log.map(sequence)) },
        programDateTimeMs: log.dateMs(sequence),
        parts: sequence >= partsFrom ? this.#listedParts(sequence) : [],
      });
    }
    return entries;
  }

  #listedParts(sequence: number): MediaSegment['parts'] {
    if (sequence === this.#firstSequence) {
      const durationSeconds = this.#log.durationSeconds(sequence);
      return [{ uri: `gap-${sequence}-0.m4s`, durationSeconds, gap: true }];
    }
    return (this.#held.get(sequence)?.parts ?? []).map(partEntry);
  }

  async #hintedPart(number: number, name: string, signal: AbortSignal): Promise<MediaAnswer> {
    await this.#waitFor(() => this.#nextPartNumber > number, this.targetDurationSeconds * 3000, signal);
    return this.#part(number, name);
  }

  #segment(sequence: number | undefined, name: string): MediaAnswer {
    if (sequence === undefined || !this.#log.has(sequence)) return this.#notFound();
    const held = this.#held.get(sequence);
    const parts = held?.parts.map(part => part.body);
    if (held !== undefined && parts !== undefined) return this.#found(parts, held.bytes, name);
    const place = this.#log.place(sequence);
    if (place === undefined || this.#store === undefined) return this.#notFound();
    const bytes = this.#log.bytes(sequence);
    return this.#found([this.#store.segment(place, bytes)], bytes, name);
  }

  #part(number: number | undefined, name: string): MediaAnswer {
    const part = number === undefined ? undefined : this.#partsByNumber.get(number);
    return part === undefined ? this.#notFound() : this.#found([part.body], part.body.length, name);
  }

  #found(body: readonly (Buffer | DiskSlice)[], bytes: number, name: string): MediaAnswer {
    // What a name stands for never changes, so the name and the size tell it apart. Nor does it matter where the bytes are.
    const lifetimeSeconds = Math.ceil(Math.max(6 * this.targetDurationSeconds, this.#listSeconds));
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
    return { status: 404, targetDurationSeconds: this.targetDurationSeconds };
  }
}

/** The number between `before` and `behind`, or undefined when the name is another. */
function wholeNumber(name: string, before: string, behind: string): number | undefined {
  if (!name.endsWith(behind)) return undefined;
  const digits = name.slice(before.length, -behind.length);
  return /^(0|[1-9]\d{0,14})$/.test(digits) ? Number(digits) : undefined;
}

function mapUri(number: number): string {
  return `init-${number}.mp4`;
}

function openEntry(open: HeldSegment): NonNullable<MediaPlaylist['openParts']> {
  return {
    discontinuity: open.hasDiscontinuity,
    map: { uri: mapUri(open.map) },
    programDateTimeMs: open.dateMs,
    parts: open.parts.map(partEntry),
  };
}

function partEntry(part: ListedPart): MediaSegment['parts'][number] {
  return {
    uri: `part-${part.number}.m4s`,
    durationSeconds: part.durationSeconds,
    independent: part.isIndependent,
  };
}
