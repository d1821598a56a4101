/** What is remembered of a closed segment. */
export interface LoggedSegment {
  readonly dateMs: number;
  readonly durationSeconds: number;
  /** Number of its init section. */
  readonly map: number;
  readonly bytes: number;
  readonly isGap: boolean;
  readonly isIndependent: boolean;
  readonly hasDiscontinuity: boolean;
  /** It shows a still while nobody publishes, and has no parts that are listed. */
  readonly isStill?: boolean;
  /** It was listed after the publisher stopped, as a still or a gap. */
  readonly hasStopped?: boolean;
}

const gapFlag = 1;
const independentFlag = 2;
const discontinuityFlag = 4;
const stillFlag = 8;
const stoppedFlag = 16;
const initialCapacity = 64;

/**
 * Closed segments by their numbers, which have no hole between them: the listed ones, and those before them that can still be fetched. In
 * flat arrays, 41 bytes a segment and at most twice that, since a day of rewind is 43,200 segments.
 */
export class SegmentLog {
  #first = 0;
  #end = 0;
  #capacity = initialCapacity;
  #dates = new Float64Array(initialCapacity);
  #durations = new Float64Array(initialCapacity);
  #untils = new Float64Array(initialCapacity);
  #bytes = new Uint32Array(initialCapacity);
  #maps = new Uint32Array(initialCapacity);
  #chunks = new Uint32Array(initialCapacity);
  #offsets = new Uint32Array(initialCapacity);
  #flags = new Uint8Array(initialCapacity);

  /** Number of the oldest; {@link end} when there is none. */
  get first(): number {
    return this.#first;
  }

  /** The number after the newest. */
  get end(): number {
    return this.#end;
  }

  /** Bytes of memory that it takes. */
  get heldBytes(): number {
    return this.#capacity * (3 * 8 + 4 * 4 + 1);
  }

  has(sequence: number): boolean {
    return sequence >= this.#first && sequence < this.#end;
  }

  /** Adds the next segment; the number of the very first one is its own choice. */
  append(sequence: number, segment: LoggedSegment): void {
    if (this.#first === this.#end) this.#first = sequence;
    if (sequence - this.#first === this.#capacity) this.#grow();
    this.#end = sequence + 1;
    const at = this.#indexOf(sequence);
    this.#dates[at] = segment.dateMs;
    this.#durations[at] = segment.durationSeconds;
    this.#untils[at] = 0;
    this.#bytes[at] = segment.bytes;
    this.#maps[at] = segment.map;
    this.#chunks[at] = 0;
    this.#offsets[at] = 0;
    this.#flags[at] =
      (segment.isGap ? gapFlag : 0) |
      (segment.isIndependent ? independentFlag : 0) |
      (segment.hasDiscontinuity ? discontinuityFlag : 0) |
      (segment.isStill === true ? stillFlag : 0) |
      (segment.hasStopped === true ? stoppedFlag : 0);
  }

  /** Forgets the oldest. */
  dropFirst(): void {
    if (this.#first < this.#end) this.#first += 1;
  }

  dateMs(sequence: number): number {
    return this.#dates[this.#indexOf(sequence)]!;
  }

  durationSeconds(sequence: number): number {
    return this.#durations[this.#indexOf(sequence)]!;
  }

  bytes(sequence: number): number {
    return this.#bytes[this.#indexOf(sequence)]!;
  }

  map(sequence: number): number {
    return this.#maps[this.#indexOf(sequence)]!;
  }

  isGap(sequence: number): boolean {
    return (this.#flags[this.#indexOf(sequence)]! & gapFlag) !== 0;
  }

  /** It begins with a keyframe, or nobody can tell because it is not there. */
  isJoinable(sequence: number): boolean {
    return (this.#flags[this.#indexOf(sequence)]! & (gapFlag | independentFlag)) !== 0;
  }

  isStill(sequence: number): boolean {
    return (this.#flags[this.#indexOf(sequence)]! & stillFlag) !== 0;
  }

  hasStopped(sequence: number): boolean {
    return (this.#flags[this.#indexOf(sequence)]! & stoppedFlag) !== 0;
  }

  hasDiscontinuity(sequence: number): boolean {
    return (this.#flags[this.#indexOf(sequence)]! & discontinuityFlag) !== 0;
  }

  /** Where it is on the disk; undefined while it is not. */
  location(sequence: number): { readonly chunk: number; readonly offset: number } | undefined {
    const at = this.#indexOf(sequence);
    const chunk = this.#chunks[at]!;
    return chunk === 0 ? undefined : { chunk, offset: this.#offsets[at]! };
  }

  /** Notes where it is on the disk; chunks are numbered from 1. A segment that is gone is nobody's concern. */
  setLocation(sequence: number, chunk: number, offset: number): void {
    if (!this.has(sequence)) return;
    this.#chunks[this.#indexOf(sequence)] = chunk;
    this.#offsets[this.#indexOf(sequence)] = offset;
  }

  /** Until when one that left the list can be fetched; 0 for a listed one. */
  availableUntilMs(sequence: number): number {
    return this.#untils[this.#indexOf(sequence)]!;
  }

  setAvailableUntil(sequence: number, untilMs: number): void {
    this.#untils[this.#indexOf(sequence)] = untilMs;
  }

  /** The capacity is a power of two, and numbers stay below 2^31. */
  #indexOf(sequence: number): number {
    return sequence & (this.#capacity - 1);
  }

  #grow(): void {
    const capacity = this.#capacity * 2;
    const spread = <Values extends Float64Array | Uint32Array | Uint8Array>(from: Values, to: Values) => {
      for (let sequence = this.#first; sequence < this.#end; sequence += 1) {
        to[sequence & (capacity - 1)] = from[sequence & (this.#capacity - 1)]!;
      }
      return to;
    };
    this.#dates = spread(this.#dates, new Float64Array(capacity));
    this.#durations = spread(this.#durations, new Float64Array(capacity));
    this.#untils = spread(this.#untils, new Float64Array(capacity));
    this.#bytes = spread(this.#bytes, new Uint32Array(capacity));
    this.#maps = spread(this.#maps, new Uint32Array(capacity));
    this.#chunks = spread(this.#chunks, new Uint32Array(capacity));
    this.#offsets = spread(this.#offsets, new Uint32Array(capacity));
    this.#flags = spread(this.#flags, new Uint8Array(capacity));
    this.#capacity = capacity;
  }
}
