import type { Clock } from '../../shared/clock.ts';
import type { FileSlice } from '../../shared/files/file-slice.ts';
import type { RewindStore } from './rewind-store.ts';
import { type LoggedSegment, SegmentLog } from './segment-log.ts';

export interface SegmentStoreOptions {
  readonly targetDurationSeconds: number;
  /** Seconds. At least six segments and three target durations are listed. */
  readonly windowSeconds: number;
  /** For listed and recently unlisted segments. Three target durations are listed in any case. */
  readonly maxBytes: number;
  readonly rewind?: { readonly seconds: number; readonly store: RewindStore };
  readonly clock: Clock;
}

export interface ListedPart {
  readonly number: number;
  readonly body: Buffer;
  readonly durationSeconds: number;
  readonly isIndependent: boolean;
}

export interface MemorySegment {
  readonly sequence: number;
  readonly initNumber: number;
  readonly hasDiscontinuity: boolean;
  readonly isIndependent: boolean;
  readonly dateMs: number;
  readonly parts: ListedPart[];
  readonly isStill?: boolean;
  readonly hasStopped?: boolean;
  durationSeconds: number;
  bytes: number;
  /** Monotonic time of leaving memory; undefined while listed. */
  keptUntilMs: number | undefined;
}

interface InitSection {
  readonly bytes: number;
  /** Undefined when on disk only. */
  body: Buffer | undefined;
  isOnDisk: boolean;
}

/** HLS Authoring Specification, 8.11. */
const minListedSegments = 6;
/** 6.2.2: parts are listed for three target durations and a segment, and can be fetched for three more. */
const targetsWithParts = 7.5;
const measuredSegments = 64;
const epsilonSeconds = 1e-6;

export interface StoredMedia {
  readonly body: readonly (Buffer | FileSlice)[];
  readonly bytes: number;
}

/** Decides which closed segments are listed, in memory or on disk. draft-pantos-hls-rfc8216bis-22, 6.2.2. */
export class SegmentStore {
  readonly log = new SegmentLog();
  readonly listSeconds: number;
  readonly #options: SegmentStoreOptions;
  #store: RewindStore | undefined;
  readonly #memorySeconds: number;
  readonly #inits = new Map<number, InitSection>();
  #initNumber = 0;
  #first: number;
  #listedSeconds = 0;
  #dependentCount = 0;
  #memoryFrom: number;
  /** Listed segments, and unlisted ones that can still be fetched, oldest first. */
  readonly #inMemory = new Map<number, MemorySegment>();
  readonly #partsByNumber = new Map<number, ListedPart>();
  #discontinuitySequence: number;
  #heldBytes = 0;
  #maxListedSeconds = 0;

  constructor(options: SegmentStoreOptions, first: number, discontinuitySequence: number) {
    this.#options = options;
    this.#store = options.rewind?.store;
    this.listSeconds = Math.max(options.windowSeconds, options.rewind?.seconds ?? 0);
    this.#memorySeconds = Math.max(options.windowSeconds, targetsWithParts * options.targetDurationSeconds);
    this.#first = first;
    this.#memoryFrom = first;
    this.#discontinuitySequence = discontinuitySequence;
  }

  get first(): number {
    return this.#first;
  }

  /** Playlist lines before this segment are final. */
  get immutableEnd(): number {
    return this.#store === undefined ? 0 : this.#memoryFrom;
  }

  get discontinuitySequence(): number {
    return this.#discontinuitySequence;
  }

  /** Of the media after the list. */
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
    this.#memoryFrom = sequence;
  }

  /** Applies to later segments. The same bytes keep their number. */
  useInit(init: Buffer): void {
    const former = this.#inits.get(this.#initNumber);
    if (former?.body?.equals(init)) return;
    if (former?.isOnDisk) former.body = undefined;
    this.#initNumber += 1;
    const number = this.#initNumber;
    const section: InitSection = { bytes: init.length, body: init, isOnDisk: false };
    this.#inits.set(number, section);
    this.#store?.writeInit(number, init, () => {
      section.isOnDisk = true;
      if (number !== this.#initNumber) section.body = undefined;
    });
  }

  addPart(part: ListedPart): void {
    this.#heldBytes += part.body.length;
    this.#partsByNumber.set(part.number, part);
  }

  list(segment: MemorySegment): void {
    const { sequence, bytes, durationSeconds, isIndependent } = segment;
    this.#inMemory.set(sequence, segment);
    if (!isIndependent) this.#dependentCount += 1;
    this.#append(sequence, { ...segment, isGap: false });
    const body = segment.parts.map(part => part.body);
    this.#store?.writeSegment({ sequence, body, bytes, durationSeconds }, ({ chunk, offset }) =>
      this.log.setLocation(sequence, chunk, offset),
    );
  }

  listGap(
    sequence: number,
    gap: Pick<LoggedSegment, 'dateMs' | 'durationSeconds' | 'initNumber' | 'hasDiscontinuity' | 'hasStopped'>,
  ): void {
    this.#append(sequence, { ...gap, bytes: 0, isGap: true, isIndependent: false });
  }

  partsOf(sequence: number): readonly ListedPart[] | undefined {
    const held = this.#inMemory.get(sequence);
    return held?.isStill === true ? undefined : held?.parts;
  }

  part(number: number): ListedPart | undefined {
    return this.#partsByNumber.get(number);
  }

  segment(sequence: number): StoredMedia | undefined {
    const held = this.#inMemory.get(sequence);
    if (held !== undefined) return { body: held.parts.map(part => part.body), bytes: held.bytes };
    const place = this.log.has(sequence) ? this.log.location(sequence) : undefined;
    if (place === undefined || this.#store === undefined) return undefined;
    const bytes = this.log.bytes(sequence);
    return { body: [this.#store.segment(place, bytes)], bytes };
  }

  init(number: number): { readonly body: Buffer | FileSlice; readonly bytes: number } | undefined {
    const section = this.#inits.get(number);
    const body = section?.body ?? (section && this.#store?.init(number, section.bytes));
    return section === undefined || body === undefined ? undefined : { body, bytes: section.bytes };
  }

  /** @returns true when everything listed is on disk */
  releaseMemory(): boolean {
    if (this.#store === undefined) return false;
    this.#store.finish();
    for (const segment of [...this.#inMemory.values()]) {
      if (segment.keptUntilMs !== undefined || this.log.location(segment.sequence) !== undefined)
        this.#dropFromMemory(segment);
    }
    for (const section of this.#inits.values()) if (section.isOnDisk) section.body = undefined;
    return this.#inMemory.size === 0 && [...this.#inits.values()].every(section => section.isOnDisk);
  }

  releaseDisk(): void {
    this.#store = undefined;
    const nowMs = this.#options.clock.monotonicMs();
    const { log } = this;
    while (this.#first < log.end) {
      const isHere = log.isGap(this.#first) || this.#inMemory.has(this.#first);
      if (isHere && this.init(log.initNumber(this.#first)) !== undefined) break;
      this.#unlistFirst(nowMs);
    }
  }

  measureBandwidth(from: number): { peakBitsPerSecond: number; averageBitsPerSecond: number } {
    let peak = 0;
    let bytes = 0;
    let seconds = 0;
    const log = this.log;
    const end = this.log.end;
    for (let sequence = Math.max(this.#first, from, end - measuredSegments); sequence < end; sequence += 1) {
      if (!log.has(sequence) || log.isGap(sequence) || log.isStill(sequence)) continue;
      const durationSeconds = log.durationSeconds(sequence);
      bytes += log.bytes(sequence);
      seconds += durationSeconds;
      // 4.1: the peak is over runs of at least half a target duration; the short first segment is none.
      if (durationSeconds * 2 < this.#options.targetDurationSeconds) continue;
      peak = Math.max(peak, (log.bytes(sequence) * 8) / durationSeconds);
    }
    const average = seconds === 0 ? 0 : (bytes * 8) / seconds;
    return { peakBitsPerSecond: Math.max(peak, average), averageBitsPerSecond: average };
  }

  #append(sequence: number, segment: LoggedSegment): void {
    this.log.append(sequence, segment);
    this.#listedSeconds += segment.durationSeconds;
    this.#trimList();
    this.#maxListedSeconds = Math.max(this.#maxListedSeconds, this.#listedSeconds);
  }

  #trimList(): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#store !== undefined) this.#moveToDisk(nowMs);
    while (this.#first < this.log.end) {
      const rest = this.#listedSeconds - this.log.durationSeconds(this.#first);
      // 6.2.2: removal leaves three target durations.
      if (rest < 3 * this.#options.targetDurationSeconds - epsilonSeconds) break;
      const count = this.log.end - this.#first;
      // Chromium's own player starts with the first segment of the list, so the list does not start with a gap.
      const isNeeded = rest < this.listSeconds - epsilonSeconds && !this.log.isGap(this.#first);
      const isLongEnough = !isNeeded && count > minListedSegments;
      const isTooMuch = this.#heldBytes > this.#options.maxBytes && this.#store === undefined;
      if (!isLongEnough && !isTooMuch) break;
      this.#unlistFirst(nowMs);
    }
    for (const segment of [...this.#inMemory.values()]) {
      if (segment.keptUntilMs === undefined) break;
      if (segment.keptUntilMs <= nowMs || this.#heldBytes > this.#options.maxBytes)
        this.#dropFromMemory(segment);
    }
    this.#forgetExpired(nowMs);
  }

  /** Unlists a segment that was not written in time, with all before it. */
  #moveToDisk(nowMs: number): void {
    const { maxBytes } = this.#options;
    const minSeconds = 3 * this.#options.targetDurationSeconds - epsilonSeconds;
    let seconds = 0;
    let bytes = 0;
    let from = this.log.end;
    for (; from > Math.max(this.#first, this.#memoryFrom); from -= 1) {
      bytes += this.#inMemory.get(from - 1)?.bytes ?? 0;
      const isLongEnough =
        seconds >= this.#memorySeconds - epsilonSeconds && this.log.end - from >= minListedSegments;
      if (seconds >= minSeconds && (isLongEnough || bytes > maxBytes)) break;
      seconds += this.log.durationSeconds(from - 1);
    }
    for (; this.#memoryFrom < from; this.#memoryFrom += 1) {
      const segment = this.#inMemory.get(this.#memoryFrom);
      if (segment === undefined || segment.keptUntilMs !== undefined) continue;
      if (this.log.location(segment.sequence) !== undefined) {
        this.#dropFromMemory(segment);
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
    const held = this.#inMemory.get(sequence);
    if (held === undefined) return;
    const heldSeconds =
      this.#store === undefined
        ? this.#maxListedSeconds
        : Math.min(this.#maxListedSeconds, this.#memorySeconds);
    held.keptUntilMs = nowMs + (durationSeconds + heldSeconds) * 1000;
  }

  #dropFromMemory(segment: MemorySegment): void {
    if (this.log.location(segment.sequence) === undefined) this.#store?.cancelWrite(segment.sequence);
    this.#inMemory.delete(segment.sequence);
    this.#heldBytes -= segment.bytes;
    for (const part of segment.parts) this.#partsByNumber.delete(part.number);
  }

  #forgetExpired(nowMs: number): void {
    const log = this.log;
    while (
      log.first < this.#first &&
      !this.#inMemory.has(log.first) &&
      log.availableUntilMs(log.first) <= nowMs
    ) {
      log.dropFirst();
    }
    const oldestInit = log.first < log.end ? log.initNumber(log.first) : this.#initNumber;
    for (const number of this.#inits.keys()) {
      if (number >= oldestInit) break;
      this.#inits.delete(number);
    }
    this.#store?.removeBefore(log.first, oldestInit);
  }
}
