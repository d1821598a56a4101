import type { PartLocation } from './part-store.ts';

export interface LoggedSegment {
  readonly dateMs: number;
  readonly durationSeconds: number;
  readonly initNumber: number;
  readonly bytes: number;
  readonly isGap: boolean;
  readonly isIndependent: boolean;
  readonly hasDiscontinuity: boolean;
  /** A still frame while there is no publisher; lists no parts. */
  readonly isFiller?: boolean;
  /** A still or a gap after the publisher stopped. */
  readonly hasStopped?: boolean;
}

/** Neighboring bytes of a segment in one file. */
export interface StoredRun extends PartLocation {
  readonly bytes: number;
}

const gapFlag = 1;
const independentFlag = 2;
const discontinuityFlag = 4;
const fillerFlag = 8;
const stoppedFlag = 16;
const initialCapacity = 64;

/** Index: segment number modulo capacity. */
function createColumns(capacity: number) {
  return {
    dateMs: new Float64Array(capacity),
    durationSeconds: new Float64Array(capacity),
    availableUntilMs: new Float64Array(capacity),
    bytes: new Uint32Array(capacity),
    initNumber: new Uint32Array(capacity),
    file: new Uint32Array(capacity),
    offset: new Float64Array(capacity),
    flags: new Uint8Array(capacity),
  };
}

/** Flat arrays take 45 to 90 bytes per segment: a day of rewind is 43,200 segments. */
export class SegmentLog {
  #first = 0;
  #end = 0;
  /** A power of two; segment numbers stay below 2^31. */
  #capacity = initialCapacity;
  #columns = createColumns(initialCapacity);
  /** Only of segments with several: parts of other renditions lie between them, or they are in two files. */
  readonly #runs = new Map<number, Float64Array>();

  /** Equals {@link end} when empty. */
  get first(): number {
    return this.#first;
  }

  get end(): number {
    return this.#end;
  }

  get heldBytes(): number {
    const arrays = [...Object.values(this.#columns), ...this.#runs.values()];
    return arrays.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  has(sequence: number): boolean {
    return sequence >= this.#first && sequence < this.#end;
  }

  append(sequence: number, segment: LoggedSegment): void {
    if (this.#first === this.#end) this.#first = sequence;
    if (sequence - this.#first === this.#capacity) this.#grow();
    this.#end = sequence + 1;
    const index = this.#indexOf(sequence);
    const columns = this.#columns;
    columns.dateMs[index] = segment.dateMs;
    columns.durationSeconds[index] = segment.durationSeconds;
    columns.availableUntilMs[index] = 0;
    columns.bytes[index] = segment.bytes;
    columns.initNumber[index] = segment.initNumber;
    columns.file[index] = 0;
    columns.offset[index] = 0;
    columns.flags[index] =
      (segment.isGap ? gapFlag : 0) |
      (segment.isIndependent ? independentFlag : 0) |
      (segment.hasDiscontinuity ? discontinuityFlag : 0) |
      (segment.isFiller === true ? fillerFlag : 0) |
      (segment.hasStopped === true ? stoppedFlag : 0);
  }

  dropFirst(): void {
    this.#runs.delete(this.#first);
    if (this.#first < this.#end) this.#first += 1;
  }

  dateMs(sequence: number): number {
    return this.#columns.dateMs[this.#indexOf(sequence)]!;
  }

  durationSeconds(sequence: number): number {
    return this.#columns.durationSeconds[this.#indexOf(sequence)]!;
  }

  bytes(sequence: number): number {
    return this.#columns.bytes[this.#indexOf(sequence)]!;
  }

  initNumber(sequence: number): number {
    return this.#columns.initNumber[this.#indexOf(sequence)]!;
  }

  isGap(sequence: number): boolean {
    return this.#hasFlag(sequence, gapFlag);
  }

  /** Players can start here: at a keyframe, or at a gap. */
  isJoinable(sequence: number): boolean {
    return this.#hasFlag(sequence, gapFlag | independentFlag);
  }

  isFiller(sequence: number): boolean {
    return this.#hasFlag(sequence, fillerFlag);
  }

  hasStopped(sequence: number): boolean {
    return this.#hasFlag(sequence, stoppedFlag);
  }

  hasDiscontinuity(sequence: number): boolean {
    return this.#hasFlag(sequence, discontinuityFlag);
  }

  isOnDisk(sequence: number): boolean {
    return this.#columns.file[this.#indexOf(sequence)] !== 0;
  }

  /** Empty when the segment is not on disk. */
  runs(sequence: number): StoredRun[] {
    const index = this.#indexOf(sequence);
    const file = this.#columns.file[index]!;
    if (file === 0) return [];
    const packed = this.#runs.get(sequence);
    if (packed === undefined)
      return [{ file, offset: this.#columns.offset[index]!, bytes: this.bytes(sequence) }];
    return Array.from({ length: packed.length / 3 }, (_, at) => {
      const [run = 0, offset = 0, bytes = 0] = packed.subarray(3 * at);
      return { file: run, offset, bytes };
    });
  }

  setRuns(sequence: number, runs: readonly StoredRun[]): void {
    const [first] = runs;
    if (!this.has(sequence) || first === undefined) return;
    this.#columns.file[this.#indexOf(sequence)] = first.file;
    this.#columns.offset[this.#indexOf(sequence)] = first.offset;
    if (runs.length === 1) return;
    this.#runs.set(
      sequence,
      Float64Array.from(runs.flatMap(({ file, offset, bytes }) => [file, offset, bytes])),
    );
  }

  /** Monotonic; 0 for a listed segment. */
  availableUntilMs(sequence: number): number {
    return this.#columns.availableUntilMs[this.#indexOf(sequence)]!;
  }

  setAvailableUntil(sequence: number, untilMs: number): void {
    this.#columns.availableUntilMs[this.#indexOf(sequence)] = untilMs;
  }

  #hasFlag(sequence: number, flags: number): boolean {
    return (this.#columns.flags[this.#indexOf(sequence)]! & flags) !== 0;
  }

  #indexOf(sequence: number): number {
    return sequence & (this.#capacity - 1);
  }

  #grow(): void {
    const grown = createColumns(2 * this.#capacity);
    for (const name of Object.keys(grown) as (keyof typeof grown)[]) {
      for (let sequence = this.#first; sequence < this.#end; sequence += 1)
        grown[name][sequence & (2 * this.#capacity - 1)] = this.#columns[name][this.#indexOf(sequence)]!;
    }
    this.#columns = grown;
    this.#capacity *= 2;
  }
}
