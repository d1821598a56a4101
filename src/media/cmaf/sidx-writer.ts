import { box, fullBox, u16, u32 } from './box-writer.ts';
import type { TrackDescription } from './movie-box.ts';
import type { LocatedSample } from './movie-fragment.ts';

/** Includes the header of the `free` box that fills the rest. */
export const SIDX_RESERVED_BYTES = 32 * 1024;

const HEADER_BYTES = 8 + 4 + 8 + 16 + 4;
const ENTRY_BYTES = 12;
const MAX_ENTRIES = Math.floor((SIDX_RESERVED_BYTES - HEADER_BYTES - 8) / ENTRY_BYTES);
/** referenced_size has 31 bits, subsegment_duration 32. */
const MAX_REFERENCED_BYTES = 2 ** 31 - 1;
const MAX_DURATION_TICKS = 2 ** 32 - 1;
/** starts_with_SAP 1, SAP_type 1. */
const STARTS_WITH_KEYFRAME = 0x90000000;

/** Builds the index for seeking (ISO/IEC 14496-12:2022, 8.16.3). Skips keyframes when they outnumber entries. */
export class SidxWriter {
  readonly #track: TrackDescription;
  #positions: number[] = [];
  #ptsTicks: number[] = [];
  /** Lists one in this many fragments that start with a keyframe. */
  #step = 1;
  #seen = 0;
  #endTicks = 0;

  /** @param track the video, or the audio of a file without video */
  constructor(track: TrackDescription) {
    this.#track = track;
  }

  get trackId(): number {
    return this.#track.id;
  }

  /** @param shiftTicks is added to the samples' times */
  add(position: number, samples: readonly LocatedSample[], shiftTicks = 0): void {
    let first: LocatedSample | undefined;
    for (const sample of samples) {
      if (sample.trackId !== this.#track.id) continue;
      first ??= sample;
      const endTicks = sample.dtsTicks + shiftTicks + sample.compositionOffsetTicks + sample.durationTicks;
      this.#endTicks = Math.max(this.#endTicks, endTicks);
    }
    if (first?.isSync !== true) return;
    this.#seen += 1;
    if ((this.#seen - 1) % this.#step !== 0) return;
    if (this.#positions.length === MAX_ENTRIES) {
      this.#positions = this.#positions.filter((_, index) => index % 2 === 0);
      this.#ptsTicks = this.#ptsTicks.filter((_, index) => index % 2 === 0);
      this.#step *= 2;
      if ((this.#seen - 1) % this.#step !== 0) return;
    }
    this.#positions.push(position);
    this.#ptsTicks.push(first.dtsTicks + shiftTicks + first.compositionOffsetTicks);
  }

  static placeholder(): Buffer {
    return box('free', Buffer.alloc(SIDX_RESERVED_BYTES - 8));
  }

  /**
   * Undefined when no fragment starts with a keyframe, or a distance exceeds the fields.
   * @param position of the index
   */
  toBytes(position: number, fileBytes: number): Buffer | undefined {
    const [firstPosition] = this.#positions;
    const [firstPts = 0] = this.#ptsTicks;
    const spans = this.#positions.map((at, index) => ({
      bytes: (this.#positions[index + 1] ?? fileBytes) - at,
      ticks: Math.max(0, (this.#ptsTicks[index + 1] ?? this.#endTicks) - this.#ptsTicks[index]!),
    }));
    const isSayable = spans.every(
      ({ bytes, ticks }) => bytes <= MAX_REFERENCED_BYTES && ticks <= MAX_DURATION_TICKS,
    );
    if (firstPosition === undefined || !isSayable) return undefined;
    const entries = spans.map(({ bytes, ticks }) => u32(bytes, ticks, STARTS_WITH_KEYFRAME));
    const tableBytes = HEADER_BYTES + ENTRY_BYTES * entries.length;
    const table = fullBox(
      'sidx',
      1,
      0,
      u32(this.#track.id, this.#track.timescale),
      u32(Math.floor(firstPts / 2 ** 32), firstPts % 2 ** 32),
      // Distance from the end of the index to the first fragment.
      u32(0, firstPosition - position - tableBytes),
      u16(0, entries.length),
      ...entries,
    );
    return Buffer.concat([table, box('free', Buffer.alloc(SIDX_RESERVED_BYTES - tableBytes - 8))]);
  }
}
