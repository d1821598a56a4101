/**
 * The listed part of one broadcast, in memory.
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
import { RenderedText } from '../shared/rendered-text.ts';
import type { Part, SegmentSink } from './segmenter.ts';

/** Answer to a request for the media playlist. */
export type PlaylistAnswer =
  | {
      readonly status: 200;
      readonly text: RenderedText;
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
      readonly body: readonly Buffer[];
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

interface Segment {
  readonly sequence: number;
  readonly mapName: string;
  readonly hasDiscontinuity: boolean;
  readonly isIndependent: boolean;
  readonly programDateTimeMs: number;
  readonly isGap: boolean;
  readonly parts: ListedPart[];
  durationSeconds: number;
  bytes: number;
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

/** Parts, segments and init sections of one broadcast, the playlist over them, and everyone who waits for what comes next. */
export class LiveWindow implements SegmentSink {
  readonly targetDurationSeconds: number;
  readonly #options: LiveWindowOptions;
  readonly #inits = new Map<string, Buffer>();
  #initCount = 0;
  #mapName = '';
  readonly #segments: Segment[] = [];
  #open: Segment | undefined;
  /** Removed from the list, and still to be fetched until the time given. */
  #retired: { segment: Segment; untilMs: number }[] = [];
  #partsByNumber = new Map<number, ListedPart>();
  /** The leading gap's. */
  readonly #firstSequence: number;
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
  readonly #rendered = new Map<string, RenderedText>();

  constructor(options: LiveWindowOptions) {
    this.#options = options;
    this.targetDurationSeconds = options.targetDurationSeconds;
    const { beside } = options;
    this.#firstSequence = beside?.isPlayable ? beside.#nextSequence - 1 : firstSequence;
    this.#nextSequence = this.#firstSequence + 1;
    if (beside === undefined) return;
    this.#partTargetSeconds = beside.#partTargetSeconds;
    this.#discontinuitySequence = beside.#discontinuitySequence;
    for (const { hasDiscontinuity } of beside.#segments) {
      if (hasDiscontinuity) this.#discontinuitySequence += 1;
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

  get heldBytes(): number {
    return this.#heldBytes;
  }

  fixPartTarget(seconds: number): void {
    this.#partTargetSeconds ??= seconds;
  }

  nextSequenceNumber(): number {
    return this.#nextPartNumber + 1;
  }

  /** Segments from now on need this init section. The same bytes keep their name. */
  useInit(init: Buffer): void {
    if (this.#inits.get(this.#mapName)?.equals(init)) return;
    this.#initCount += 1;
    this.#mapName = `init-${this.#initCount}.mp4`;
    this.#inits.set(this.#mapName, init);
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
    const { sequence, hasDiscontinuity, programDateTimeMs } = this.#newSegment(date, isIndependent, false);
    const facts = { sequence, hasDiscontinuity, startMs, programDateTimeMs };
    this.openSegmentAs(facts, isIndependent);
    return facts;
  }

  /** Opens a segment with the number, date and break that another rendition gave it. */
  openSegmentAs(facts: SegmentFacts, isIndependent: boolean): void {
    if (this.#ended) return;
    this.#discontinuityIsDue = facts.hasDiscontinuity;
    this.#lastProgramDateTimeMs = facts.programDateTimeMs;
    this.#open = this.#newSegment(facts.programDateTimeMs, isIndependent, false);
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
    this.#list(open);
  }

  /** Nobody publishes: the list grows by a segment that is not there, so that players go on asking. */
  addGap(durationSeconds: number): void {
    this.closeSegment();
    const last = this.#segments.at(-1);
    const startMs =
      last === undefined ? this.#options.clock.nowMs() : last.programDateTimeMs + last.durationSeconds * 1000;
    this.#lastProgramDateTimeMs = Math.round(startMs);
    const gap = this.#newSegment(this.#lastProgramDateTimeMs, false, true);
    gap.durationSeconds = durationSeconds;
    this.#list(gap);
  }

  /** A segment of which this rendition has nothing. */
  addMissing(facts: SegmentFacts, durationSeconds: number): void {
    if (this.#ended) return;
    this.openSegmentAs(facts, false);
    const open = this.#open!;
    this.#open = undefined;
    this.#list({ ...open, isGap: true, durationSeconds });
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
    const parts = this.#segments.at(-1)?.parts.length ?? 0;
    return { lastMsn: this.#nextSequence - 1, lastPart: Math.max(0, parts - 1) };
  }

  /** Another rendition has come further: what was rendered is old. */
  otherChanged(): void {
    this.#rendered.clear();
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** What the listed segments weigh: the peak of any one, and all together, in bits a second. */
  measureBandwidth(): { peakBitsPerSecond: number; averageBitsPerSecond: number } {
    let peak = 0;
    let bytes = 0;
    let seconds = 0;
    for (const segment of this.#segments) {
      if (segment.isGap) continue;
      bytes += segment.bytes;
      seconds += segment.durationSeconds;
      // 4.1: the peak is over runs of at least half a target duration; the short first segment is none.
      if (segment.durationSeconds * 2 < this.targetDurationSeconds) continue;
      peak = Math.max(peak, (segment.bytes * 8) / segment.durationSeconds);
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
    if (name.startsWith('segment-')) {
      const segment = this.#findSegment(wholeNumber(name, 'segment-', '.m4s'));
      if (segment === undefined || segment.isGap) return this.#notFound();
      const body = segment.parts.map(part => part.body);
      return this.#found(body, segment.bytes, name);
    }
    const init = this.#inits.get(name);
    return init === undefined ? this.#notFound() : this.#found([init], init.length, name);
  }

  // ------------------------------------------------------------------------------------------------ inside

  #newSegment(programDateTimeMs: number, isIndependent: boolean, isGap: boolean): Segment {
    const segment: Segment = {
      sequence: this.#nextSequence,
      mapName: this.#mapName,
      hasDiscontinuity: this.#discontinuityIsDue,
      isIndependent,
      programDateTimeMs,
      isGap,
      parts: [],
      durationSeconds: 0,
      bytes: 0,
    };
    this.#discontinuityIsDue = false;
    return segment;
  }

  /**
   * hls.js 1.7 plays no part of a list that has no whole segment, and none of the open segment unless a part is listed before it. The
   * first whole segment takes seconds, so one that is not there, and is one part that is not there, stands before it.
   */
  #listLeadingGap(first: Segment): void {
    const durationSeconds = this.#partTargetSeconds ?? this.targetDurationSeconds;
    this.#segments.push({
      ...first,
      sequence: this.#firstSequence,
      isIndependent: false,
      programDateTimeMs: first.programDateTimeMs - Math.round(durationSeconds * 1000),
      isGap: true,
      parts: [],
      durationSeconds,
    });
  }

  /** What players hold back is there: one that started before would start in the gap, or with too little to go on. */
  #canStart(): boolean {
    const holdBackSeconds = 3 * (this.#partTargetSeconds ?? 0);
    return (
      this.#nextSequence > this.#firstSequence + 1 || (this.#open?.durationSeconds ?? 0) >= holdBackSeconds
    );
  }

  #list(segment: Segment): void {
    this.#segments.push(segment);
    this.#nextSequence += 1;
    this.#shorten();
    this.#longestListSeconds = Math.max(this.#longestListSeconds, this.#listedSeconds());
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

  #listedSeconds(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.durationSeconds, 0);
  }

  #shorten(): void {
    const { windowSeconds, maxBytes, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    let listed = this.#listedSeconds();
    for (;;) {
      const first = this.#segments[0];
      if (first === undefined) break;
      const rest = listed - first.durationSeconds;
      // 6.2.2: removal leaves three target durations.
      if (rest < 3 * this.targetDurationSeconds) break;
      const isLongEnough = rest >= windowSeconds && this.#segments.length > leastListedSegments;
      if (!isLongEnough && this.#heldBytes <= maxBytes) break;
      this.#segments.shift();
      listed = rest;
      // 6.2.2: the number grows when the tag leaves the list, with the segment it stood before.
      if (first.hasDiscontinuity) this.#discontinuitySequence += 1;
      // 6.2.2: it stays for its own duration and that of the longest list that held it.
      const forMs = (first.durationSeconds + this.#longestListSeconds) * 1000;
      this.#retired.push({ segment: first, untilMs: nowMs + forMs });
    }
    this.#retired = this.#retired.filter(({ segment, untilMs }) => {
      if (untilMs > nowMs && this.#heldBytes <= maxBytes) return true;
      this.#heldBytes -= segment.bytes;
      for (const part of segment.parts) this.#partsByNumber.delete(part.number);
      return false;
    });
    this.#forgetInits();
  }

  #forgetInits(): void {
    const inUse = new Set(
      [...this.#segments, ...this.#retired.map(({ segment }) => segment)].map(({ mapName }) => mapName),
    );
    for (const name of this.#inits.keys()) {
      if (name !== this.#mapName && !inUse.has(name)) this.#inits.delete(name);
    }
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
      const segment = this.#findSegment(msn);
      // 6.2.5.2: an index past the last part of a closed segment means part 0 of the next. A gap has no parts to wait for.
      if (part === undefined || segment === undefined || segment.isGap || part < segment.parts.length)
        return true;
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

  #findSegment(sequence: number | undefined): Segment | undefined {
    if (sequence === undefined) return undefined;
    const first = this.#segments[0]?.sequence ?? 0;
    if (sequence >= first) return this.#segments[sequence - first];
    return this.#retired.find(entry => entry.segment.sequence === sequence)?.segment;
  }

  #answer(skip: 'no' | 'yes' | 'v2', blocking: boolean): PlaylistAnswer {
    const delta = skip !== 'no' && !this.#ended;
    const key = delta ? 'delta' : 'full';
    let text = this.#rendered.get(key);
    if (text === undefined) {
      text = new RenderedText(formatMediaPlaylist(this.#playlist(delta)));
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

  #playlist(delta: boolean): MediaPlaylist {
    const target = this.targetDurationSeconds;
    const partTarget = this.#partTargetSeconds ?? target;
    const open = this.#open;
    const all = this.#segments;
    const skipped = delta ? this.#countSkippable() : 0;
    const partsFrom = this.#firstWithParts();
    const everySegmentStartsWithKeyframe =
      all.every(segment => segment.isIndependent || segment.isGap) && (open?.isIndependent ?? true);
    return {
      targetDurationSeconds: target,
      mediaSequence: all[0]?.sequence ?? 0,
      discontinuitySequence: this.#discontinuitySequence,
      independentSegments: everySegmentStartsWithKeyframe,
      serverControl: {
        canBlockReload: true,
        partHoldBackSeconds: partTarget * 3,
        holdBackSeconds: target * 3,
        canSkipUntilSeconds: target * 6,
      },
      partTargetSeconds: partTarget,
      ...(skipped > 0 ? { skippedSegments: skipped } : {}),
      segments: all
        .slice(skipped)
        .map((segment, index) => this.#entry(segment, index + skipped >= partsFrom)),
      openParts:
        this.#ended || open === undefined || open.parts.length === 0 ? undefined : this.#entry(open, true),
      preloadHints: this.#ended ? [] : this.#hints(),
      renditionReports: this.#options.otherRenditions?.() ?? [],
      endList: this.#ended,
    };
  }

  #hints(): MediaPlaylist['preloadHints'] {
    const part = { type: 'PART' as const, uri: `part-${this.#nextPartNumber}.m4s` };
    const listedMap = this.#open?.parts.length ? this.#open.mapName : this.#segments.at(-1)?.mapName;
    return listedMap === this.#mapName ? [part] : [{ type: 'MAP' as const, uri: this.#mapName }, part];
  }

  #countSkippable(): number {
    let behind = 0;
    for (let index = this.#segments.length - 1; index >= 0; index -= 1) {
      if (behind >= this.targetDurationSeconds * 6) return index + 1;
      behind += this.#segments[index]!.durationSeconds;
    }
    return 0;
  }

  /** Parts are listed in the last three target durations. */
  #firstWithParts(): number {
    if (this.#ended) return this.#segments.length;
    let behind = this.#open?.durationSeconds ?? 0;
    for (let index = this.#segments.length - 1; index >= 0; index -= 1) {
      if (behind > this.targetDurationSeconds * 3) return index + 1;
      behind += this.#segments[index]!.durationSeconds;
    }
    return 0;
  }

  #entry(segment: Segment, withParts: boolean): MediaSegment {
    return {
      uri: segment.isGap ? `gap-${segment.sequence}.m4s` : `segment-${segment.sequence}.m4s`,
      durationSeconds: segment.durationSeconds,
      discontinuity: segment.hasDiscontinuity,
      gap: segment.isGap,
      map: { uri: segment.mapName },
      programDateTimeMs: segment.programDateTimeMs,
      parts: withParts ? this.#listedParts(segment) : [],
    };
  }

  #listedParts(segment: Segment): MediaSegment['parts'] {
    const { sequence, durationSeconds } = segment;
    if (sequence === this.#firstSequence)
      return [{ uri: `gap-${sequence}-0.m4s`, durationSeconds, gap: true }];
    return segment.parts.map(part => ({
      uri: `part-${part.number}.m4s`,
      durationSeconds: part.durationSeconds,
      independent: part.isIndependent,
    }));
  }

  async #hintedPart(number: number, name: string, signal: AbortSignal): Promise<MediaAnswer> {
    await this.#waitFor(() => this.#nextPartNumber > number, this.targetDurationSeconds * 3000, signal);
    return this.#part(number, name);
  }

  #part(number: number | undefined, name: string): MediaAnswer {
    const part = number === undefined ? undefined : this.#partsByNumber.get(number);
    return part === undefined ? this.#notFound() : this.#found([part.body], part.body.length, name);
  }

  #found(body: readonly Buffer[], bytes: number, name: string): MediaAnswer {
    // What a name stands for never changes, so the name and the size tell it apart.
    const lifetimeSeconds = Math.ceil(Math.max(6 * this.targetDurationSeconds, this.#longestListSeconds));
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
