import type { LocatedSample } from '../../media/cmaf/movie-fragment.ts';

interface QueuedSample extends LocatedSample {
  readonly startsFragment: boolean;
}

const initialCapacity = 64;
const syncFlag = 1;
const startFlag = 2;

function createColumns(capacity: number) {
  return {
    dtsTicks: new Float64Array(capacity),
    position: new Float64Array(capacity),
    durationTicks: new Uint32Array(capacity),
    sizeBytes: new Uint32Array(capacity),
    compositionOffsetTicks: new Int32Array(capacity),
    flags: new Uint8Array(capacity),
  };
}

/** Samples of one track in columns: as objects, those that wait for seconds would outlive the cheap collection of young ones. */
export class SampleQueue {
  readonly #trackId: number;
  #columns = createColumns(initialCapacity);
  #capacity = initialCapacity;
  #start = 0;
  #length = 0;

  constructor(trackId: number) {
    this.#trackId = trackId;
  }

  get length(): number {
    return this.#length;
  }

  /** `bytes` and `ticks` are added to the sample's position and decode time. */
  push(sample: LocatedSample, startsFragment: boolean, bytes: number, ticks: number): void {
    if (this.#start + this.#length === this.#capacity) this.#makeRoom();
    const at = this.#start + this.#length;
    const columns = this.#columns;
    columns.dtsTicks[at] = sample.dtsTicks + ticks;
    columns.position[at] = sample.position + bytes;
    columns.durationTicks[at] = sample.durationTicks;
    columns.sizeBytes[at] = sample.sizeBytes;
    columns.compositionOffsetTicks[at] = sample.compositionOffsetTicks;
    columns.flags[at] = (sample.isSync ? syncFlag : 0) | (startsFragment ? startFlag : 0);
    this.#length += 1;
  }

  at(index: number): QueuedSample {
    const at = this.#start + index;
    const columns = this.#columns;
    const flags = columns.flags[at]!;
    return {
      trackId: this.#trackId,
      dtsTicks: columns.dtsTicks[at]!,
      durationTicks: columns.durationTicks[at]!,
      compositionOffsetTicks: columns.compositionOffsetTicks[at]!,
      isSync: (flags & syncFlag) !== 0,
      position: columns.position[at]!,
      sizeBytes: columns.sizeBytes[at]!,
      startsFragment: (flags & startFlag) !== 0,
    };
  }

  dropFirst(count: number): void {
    this.#length -= count;
    this.#start = this.#length === 0 ? 0 : this.#start + count;
  }

  #makeRoom(): void {
    const isHalfEmpty = 2 * this.#length <= this.#capacity;
    const capacity = isHalfEmpty ? this.#capacity : 2 * this.#capacity;
    const target = isHalfEmpty ? this.#columns : createColumns(capacity);
    for (const name of Object.keys(target) as (keyof typeof target)[])
      target[name].set(this.#columns[name].subarray(this.#start, this.#start + this.#length));
    this.#columns = target;
    this.#capacity = capacity;
    this.#start = 0;
  }
}
