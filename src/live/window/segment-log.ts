export interface LoggedSegment {
  readonly dateMs: number;
  readonly durationSeconds: number;
  /** Number of its init section. */
  readonly map: number;
  readonly bytes: number;
  readonly isGap: boolean;
  readonly isIndependent: boolean;
  readonly hasDiscontinuity: boolean;
  /** It shows a still frame while there is no publisher, and lists no parts. */
  readonly isStill?: boolean;
  /** A still or a gap that was listed after the publisher stopped. */
  readonly hasStopped?: boolean;
}

const gapFlag = 1;
const independentFlag = 2;
const discontinuityFlag = 4;
const stillFlag = 8;
const stoppedFlag = 16;
const initialCapacity = 64;

/**
 * The closed segments that are listed, and those before them that can still be fetched, by consecutive number. Flat arrays take 41 to 82
 * bytes per segment: a day of rewind is 43,200 segments.
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

  get heldBytes(): number {
    return this.#capacity * (3 * 8 + 4 * 4 + 1);
  }

  has(sequence: number): boolean {
    return sequence >= this.#first && sequence < this.#end;
  }

  /** Adds the next segment. The first one may have any number. */
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

  /** Players can start here: at a keyframe, or at a gap. */
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

  /** Location on disk, if it was written. */
  location(sequence: number): { readonly chunk: number; readonly offset: number } | undefined {
    const at = this.#indexOf(sequence);
    const chunk = this.#chunks[at]!;
    return chunk === 0 ? undefined : { chunk, offset: this.#offsets[at]! };
  }

  /** Ignores segments that are gone. @param chunk from 1 */
  setLocation(sequence: number, chunk: number, offset: number): void {
    if (!this.has(sequence)) return;
    this.#chunks[this.#indexOf(sequence)] = chunk;
    this.#offsets[this.#indexOf(sequence)] = offset;
  }

  /** Monotonic time until which an unlisted segment can be fetched; 0 for a listed one. */
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
