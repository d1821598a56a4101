import type { Clock } from '../../shared/clock.ts';
import type { FileSlice } from '../../shared/files/file-slice.ts';
import type { PartMemory } from './part-memory.ts';
import type { PartLocation, PartStore, PartStored } from './part-store.ts';
import { type LoggedSegment, SegmentLog, type StoredRun } from './segment-log.ts';

export interface SegmentStoreOptions {
  /** Seconds. At least six segments and three target durations are listed. */
  readonly windowSeconds: number;
  /** Maximum bytes in memory. Three target durations are listed in any case. */
  readonly maxBytes: number;
  /** The last one of another server; 0 unless given. */
  readonly lastInitNumber?: number | undefined;
  /** Undefined keeps everything in memory. */
  readonly disk?: { readonly rewindSeconds: number; readonly store: PartStore };
  /** The body of a part is in use elsewhere. */
  readonly isKept?: (body: Buffer) => boolean;
  readonly clock: Clock;
}

export interface ListedPart {
  readonly number: number;
  readonly sequence: number;
  readonly bytes: number;
  readonly durationSeconds: number;
  readonly isIndependent: boolean;
  /** Undefined when on disk only. */
  body: Buffer | undefined;
  location: PartLocation | undefined;
  readonly memory: PartMemory;
  /** A subscriber writes it, and tells the location. */
  isClaimed: boolean;
}

export interface MemorySegment {
  readonly sequence: number;
  readonly initNumber: number;
  readonly hasDiscontinuity: boolean;
  readonly isIndependent: boolean;
  readonly dateMs: number;
  readonly parts: ListedPart[];
  readonly isFiller?: boolean;
  readonly hasStopped?: boolean;
  durationSeconds: number;
  bytes: number;
  /** Monotonic time at which its parts expire; undefined while listed. */
  keptUntilMs: number | undefined;
}

/** HLS Authoring Specification, 8.11. */
const minListedSegments = 6;
/** 6.2.2: parts are listed for three target durations and a segment, and can be fetched for three more. */
const targetsWithParts = 7.5;
const measuredSegments = 64;
/** 4.4.3.1: durations are rounded to compare them with the target duration. */
const maxRoundingSeconds = 0.5;
/** Segments without a request for media after which nobody watches. */
const maxUnrequestedSegments = 3;
const epsilonSeconds = 1e-6;

export interface StoredMedia {
  readonly body: readonly (Buffer | FileSlice)[];
  readonly bytes: number;
}

interface StoreState {
  readonly firstSequence: number;
  readonly targetDurationSeconds: number;
}

/**
 * Decides which closed segments are listed, and which bodies are in memory: those that are not on disk yet and, while
 * somebody watches, those of the newest two segments. draft-pantos-hls-rfc8216bis-22, 6.2.2.
 */
export class SegmentStore {
  readonly log = new SegmentLog();
  readonly listSeconds: number;
  readonly #options: SegmentStoreOptions;
  readonly #state: StoreState;
  readonly #store: PartStore | undefined;
  readonly #inits = new Map<number, Buffer>();
  #initNumber: number;
  #first: number;
  #listedSeconds = 0;
  #dependentCount = 0;
  #partsFrom: number;
  /** Segments whose parts can be fetched, oldest first. */
  readonly #withParts = new Map<number, MemorySegment>();
  readonly #partsByNumber = new Map<number, ListedPart>();
  /** Parts with a body, oldest first. Empty without a disk. */
  readonly #inMemory = new Set<ListedPart>();
  #discontinuitySequence: number;
  /** No older segment is media of the publisher. */
  #mediaFrom = 0;
  #heldBytes = 0;
  #maxListedSeconds = 0;
  /** Number of the open segment when media was requested last. */
  #requestedAt = Number.NEGATIVE_INFINITY;

  constructor(options: SegmentStoreOptions, state: StoreState, discontinuitySequence: number) {
    this.#options = options;
    this.#state = state;
    this.#initNumber = options.lastInitNumber ?? 0;
    this.#store = options.disk?.store;
    this.listSeconds = Math.max(options.windowSeconds, options.disk?.rewindSeconds ?? 0);
    this.#first = state.firstSequence;
    this.#partsFrom = state.firstSequence;
    this.#discontinuitySequence = discontinuitySequence;
  }

  get #partsSeconds(): number {
    return Math.max(this.#options.windowSeconds, targetsWithParts * this.#state.targetDurationSeconds);
  }

  get first(): number {
    return this.#first;
  }

  /** Unix time of the oldest media of the publisher. */
  get oldestMediaMs(): number | undefined {
    const { log } = this;
    let sequence = Math.max(this.#first, this.#mediaFrom);
    const isMedia = () => log.has(sequence) && !log.isGap(sequence) && !log.isFiller(sequence);
    while (sequence < log.end && !isMedia()) sequence += 1;
    this.#mediaFrom = sequence;
    return sequence < log.end ? log.dateMs(sequence) : undefined;
  }

  /** Playlist lines before this segment are final. */
  get immutableEnd(): number {
    return this.#store === undefined ? 0 : this.#partsFrom;
  }

  get discontinuitySequence(): number {
    return this.#discontinuitySequence;
  }

  /** Discontinuity sequence of the media after the list. */
  get nextDiscontinuitySequence(): number {
    let number = this.#discontinuitySequence;
    for (let sequence = this.#first; sequence < this.log.end; sequence += 1) {
      if (this.log.hasDiscontinuity(sequence)) number += 1;
    }
    return number;
  }

  get areAllIndependent(): boolean {
    return this.#dependentCount === 0;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  get initNumber(): number {
    return this.#initNumber;
  }

  beginAt(sequence: number, isAfterDiscontinuity: boolean): void {
    if (isAfterDiscontinuity) this.#discontinuitySequence += 1;
    this.#first = sequence;
    this.#partsFrom = sequence;
  }

  /** Applies to later segments. The same bytes keep their number. */
  useInit(init: Buffer): void {
    if (this.#inits.get(this.#initNumber)?.equals(init)) return;
    this.#initNumber += 1;
    this.#inits.set(this.#initNumber, init);
  }

  addPart(part: ListedPart): void {
    this.#heldBytes += part.bytes;
    this.#partsByNumber.set(part.number, part);
    if (this.#store !== undefined) this.#inMemory.add(part);
  }

  /** The caller writes the part to disk, and ends the claim once. */
  claim(part: ListedPart): PartStored {
    part.isClaimed = true;
    return location => {
      part.isClaimed = false;
      if (location !== undefined) {
        this.#stored([part], location);
        return;
      }
      const segment = this.#withParts.get(part.sequence);
      if (segment !== undefined && this.#isHeld(part)) this.#write([part]);
    };
  }

  list(segment: MemorySegment): void {
    const { sequence, isIndependent, parts } = segment;
    this.#withParts.set(sequence, segment);
    if (!isIndependent) this.#dependentCount += 1;
    this.#append(sequence, { ...segment, isGap: false });
    this.#settle(segment);
    for (let from = 0; from < parts.length; ) {
      const isNeeded = ({ isClaimed, location }: ListedPart) => !isClaimed && location === undefined;
      const run = parts.slice(from);
      const length = run.findIndex(part => !isNeeded(part));
      const needed = length === -1 ? run : run.slice(0, length);
      if (needed.length > 0) this.#write(needed);
      from += needed.length + 1;
    }
    this.#releaseBodies();
  }

  listGap(
    sequence: number,
    gap: Pick<LoggedSegment, 'dateMs' | 'durationSeconds' | 'initNumber' | 'hasDiscontinuity' | 'hasStopped'>,
  ): void {
    this.#append(sequence, { ...gap, bytes: 0, isGap: true, isIndependent: false });
  }

  partsOf(sequence: number): readonly ListedPart[] | undefined {
    const held = this.#withParts.get(sequence);
    return held?.isFiller === true ? undefined : held?.parts;
  }

  part(number: number): StoredMedia | undefined {
    const part = this.#partsByNumber.get(number);
    return part && { body: this.#bodyOf([part]), bytes: part.bytes };
  }

  segment(sequence: number): StoredMedia | undefined {
    const runs = this.log.has(sequence) ? this.log.runs(sequence) : [];
    const held = this.#withParts.get(sequence);
    if (held !== undefined && (runs.length === 0 || held.parts.every(({ body }) => body !== undefined)))
      return { body: this.#bodyOf(held.parts), bytes: held.bytes };
    const store = this.#store;
    if (runs.length === 0 || store === undefined) return undefined;
    this.#requestedAt = this.log.end;
    return { body: runs.map(run => store.slice(run, run.bytes)), bytes: this.log.bytes(sequence) };
  }

  init(number: number): Buffer | undefined {
    return this.#inits.get(number);
  }

  /** @returns true when everything listed is on disk */
  releaseMemory(): boolean {
    if (this.#store === undefined) return false;
    this.#store.finish();
    for (const segment of [...this.#withParts.values()]) {
      if (segment.keptUntilMs !== undefined || this.log.isOnDisk(segment.sequence)) this.#dropParts(segment);
    }
    return this.#withParts.size === 0;
  }

  measureBandwidth(from: number): { peakBitsPerSecond: number; averageBitsPerSecond: number } {
    let peak = 0;
    let bytes = 0;
    let seconds = 0;
    const log = this.log;
    const end = this.log.end;
    for (let sequence = Math.max(this.#first, from, end - measuredSegments); sequence < end; sequence += 1) {
      if (!log.has(sequence) || log.isGap(sequence) || log.isFiller(sequence)) continue;
      const durationSeconds = log.durationSeconds(sequence);
      bytes += log.bytes(sequence);
      seconds += durationSeconds;
      // 4.1: the peak is over runs of at least half a target duration; the short first segment is none.
      if (durationSeconds * 2 < this.#state.targetDurationSeconds) continue;
      peak = Math.max(peak, (log.bytes(sequence) * 8) / durationSeconds);
    }
    const average = seconds === 0 ? 0 : (bytes * 8) / seconds;
    return { peakBitsPerSecond: Math.max(peak, average), averageBitsPerSecond: average };
  }

  /**
   * Peak of the runs of segments that begin before one. 4.1: they last half a target duration to one and a half.
   *
   * @param open the segment that follows the closed ones
   */
  peakBefore(
    limit: number,
    open: { readonly bytes: number; readonly durationSeconds: number } | undefined,
  ): number {
    const { log } = this;
    const { targetDurationSeconds } = this.#state;
    const maxSeconds = 1.5 * targetDurationSeconds + maxRoundingSeconds;
    let peak = 0;
    for (let from = this.#first; from < Math.min(limit, log.end); from += 1) {
      let bytes = 0;
      let seconds = 0;
      for (let sequence = from; sequence <= log.end; sequence += 1) {
        const isOpen = sequence === log.end;
        if (isOpen ? open === undefined : log.isGap(sequence) || log.isFiller(sequence)) break;
        bytes += isOpen ? open!.bytes : log.bytes(sequence);
        seconds += isOpen ? open!.durationSeconds : log.durationSeconds(sequence);
        if (seconds > maxSeconds) break;
        if (seconds * 2 >= targetDurationSeconds) peak = Math.max(peak, (bytes * 8) / seconds);
      }
    }
    return peak;
  }

  #append(sequence: number, segment: LoggedSegment): void {
    this.log.append(sequence, segment);
    this.#listedSeconds += segment.durationSeconds;
    this.#trimList();
    this.#maxListedSeconds = Math.max(this.#maxListedSeconds, this.#listedSeconds);
  }

  #write(parts: readonly ListedPart[]): void {
    const [first] = parts;
    if (first === undefined) return;
    this.#store?.write(
      {
        sequence: first.sequence,
        body: parts.flatMap(({ body }) => body ?? []),
        bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
        durationSeconds: parts.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0),
      },
      location => this.#stored(parts, location),
    );
  }

  #stored(parts: readonly ListedPart[], { file, offset }: PartLocation): void {
    if (this.#store === undefined) return;
    let at = offset;
    for (const part of parts) {
      if (this.#isHeld(part)) {
        part.location = { file, offset: at };
        this.#store.retain(file);
      }
      at += part.bytes;
    }
    const segment = parts[0] && this.#withParts.get(parts[0].sequence);
    if (segment !== undefined) this.#settle(segment);
    this.#releaseBodies();
  }

  #isHeld(part: ListedPart): boolean {
    return this.#partsByNumber.get(part.number) === part;
  }

  #settle({ sequence, parts }: MemorySegment): void {
    if (!this.log.has(sequence) || this.log.isOnDisk(sequence)) return;
    const runs: StoredRun[] = [];
    for (const { location, bytes } of parts) {
      if (location === undefined) return;
      const last = runs.at(-1);
      if (last?.file === location.file && last.offset + last.bytes === location.offset)
        runs[runs.length - 1] = { ...last, bytes: last.bytes + bytes };
      else runs.push({ ...location, bytes });
    }
    this.log.setRuns(sequence, runs);
    for (const { file } of runs) this.#store?.retain(file);
  }

  #releaseBodies(): void {
    const isWatched = this.log.end - this.#requestedAt <= maxUnrequestedSegments;
    for (const part of this.#inMemory) {
      const isNewest = part.sequence >= this.log.end - 1;
      if (part.location === undefined || part.body === undefined || (isWatched && isNewest)) continue;
      if (this.#options.isKept?.(part.body) === true) continue;
      this.#inMemory.delete(part);
      part.body = undefined;
      part.memory.drop();
      this.#heldBytes -= part.bytes;
    }
  }

  #bodyOf(parts: readonly ListedPart[]): (Buffer | FileSlice)[] {
    this.#requestedAt = this.log.end;
    return parts.flatMap(({ body, location, bytes, memory }) => {
      if (body !== undefined) {
        memory.share();
        return body;
      }
      return location === undefined || this.#store === undefined ? [] : this.#store.slice(location, bytes);
    });
  }

  #trimList(): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#store !== undefined) this.#dropOldParts(nowMs);
    while (this.#first < this.log.end) {
      const rest = this.#listedSeconds - this.log.durationSeconds(this.#first);
      // 6.2.2: removal leaves three target durations.
      if (rest < 3 * this.#state.targetDurationSeconds - epsilonSeconds) break;
      const count = this.log.end - this.#first;
      // Chromium's own player starts with the first segment of the list, so the list does not start with a gap.
      const isNeeded = rest < this.listSeconds - epsilonSeconds && !this.log.isGap(this.#first);
      const isLongEnough = !isNeeded && count > minListedSegments;
      const isTooMuch = this.#heldBytes > this.#options.maxBytes && this.#store === undefined;
      if (!isLongEnough && !isTooMuch) break;
      this.#unlistFirst(nowMs);
    }
    for (const segment of [...this.#withParts.values()]) {
      if (segment.keptUntilMs === undefined) break;
      if (segment.keptUntilMs <= nowMs || this.#heldBytes > this.#options.maxBytes) this.#dropParts(segment);
    }
    this.#forgetExpired(nowMs);
  }

  /** Unlists a segment that was not written in time, with all before it. */
  #dropOldParts(nowMs: number): void {
    const { maxBytes } = this.#options;
    const minSeconds = 3 * this.#state.targetDurationSeconds - epsilonSeconds;
    let seconds = 0;
    let heldBytes = 0;
    let from = this.log.end;
    for (; from > Math.max(this.#first, this.#partsFrom); from -= 1) {
      for (const { body } of this.#withParts.get(from - 1)?.parts ?? []) heldBytes += body?.length ?? 0;
      const isLongEnough =
        seconds >= this.#partsSeconds - epsilonSeconds && this.log.end - from >= minListedSegments;
      if (seconds >= minSeconds && (isLongEnough || heldBytes > maxBytes)) break;
      seconds += this.log.durationSeconds(from - 1);
    }
    for (; this.#partsFrom < from; this.#partsFrom += 1) {
      const segment = this.#withParts.get(this.#partsFrom);
      if (segment === undefined || segment.keptUntilMs !== undefined) continue;
      if (this.log.isOnDisk(segment.sequence)) {
        this.#dropParts(segment);
        continue;
      }
      this.#store?.cancelWrite(segment.sequence);
      while (this.#first <= segment.sequence) this.#unlistFirst(nowMs);
    }
  }

  #unlistFirst(nowMs: number): void {
    const log = this.log;
    const sequence = this.#first;
    const durationSeconds = log.durationSeconds(sequence);
    this.#first += 1;
    this.#listedSeconds -= durationSeconds;
    if (!log.isJoinable(sequence)) this.#dependentCount -= 1;
    // 6.2.2: the number grows when the tag leaves the list, together with its segment.
    if (log.hasDiscontinuity(sequence)) this.#discontinuitySequence += 1;
    // 6.2.2: it can be fetched for its own duration and that of the longest list that contained it.
    log.setAvailableUntil(sequence, nowMs + (durationSeconds + this.#maxListedSeconds) * 1000);
    const held = this.#withParts.get(sequence);
    if (held === undefined) return;
    const heldSeconds =
      this.#store === undefined
        ? this.#maxListedSeconds
        : Math.min(this.#maxListedSeconds, this.#partsSeconds);
    held.keptUntilMs = nowMs + (durationSeconds + heldSeconds) * 1000;
  }

  #dropParts({ sequence, parts }: MemorySegment): void {
    if (!this.log.isOnDisk(sequence)) this.#store?.cancelWrite(sequence);
    this.#withParts.delete(sequence);
    for (const part of parts) {
      this.#partsByNumber.delete(part.number);
      this.#inMemory.delete(part);
      if (part.body !== undefined) this.#heldBytes -= part.bytes;
      if (part.location !== undefined) this.#store?.release(part.location.file);
    }
  }

  #forgetExpired(nowMs: number): void {
    const log = this.log;
    while (
      log.first < this.#first &&
      !this.#withParts.has(log.first) &&
      log.availableUntilMs(log.first) <= nowMs
    ) {
      for (const { file } of log.runs(log.first)) this.#store?.release(file);
      log.dropFirst();
    }
    const oldestInit = log.first < log.end ? log.initNumber(log.first) : this.#initNumber;
    for (const number of this.#inits.keys()) {
      if (number >= oldestInit) break;
      this.#inits.delete(number);
    }
  }
}
