import { AppError } from '../../shared/errors.ts';
import type { BitRates } from './rendition.ts';

/** Columns of the table as it is stored, each of 32 bit. */
const COLUMNS = 4;
/** Bytes of one segment in the stored table. */
export const STORED_SEGMENT_BYTES = 4 * COLUMNS;

/** More segments than a day of two seconds each. */
export const MAX_SEGMENTS = 50_000;

/** What is kept in memory of each segment of a rendition: about forty bytes. */
export interface SegmentRow {
  readonly durationTicks: number;
  /** Of the whole segment as it is sent. */
  readonly bytes: number;
  /** Of its record in the index. */
  readonly recordBytes: number;
  /** CRC-32 of the record. */
  readonly recordCheck: number;
}

/** The segments of a rendition in their order, in typed arrays that grow. */
export class SegmentTable {
  /** `COLUMNS` numbers a segment, in the order of {@link SegmentRow}. */
  #rows: Uint32Array;
  /** Ticks from the first segment's start, and bytes from the first record, to those of each segment; one more than there are. */
  #starts: Float64Array;
  #recordStarts: Float64Array;
  #length = 0;
  #bytes = 0;
  #longestTicks = 0;

  constructor(room = 16) {
    this.#rows = new Uint32Array(COLUMNS * room);
    this.#starts = new Float64Array(room + 1);
    this.#recordStarts = new Float64Array(room + 1);
  }

  get length(): number {
    return this.#length;
  }

  /** Of all segments together. */
  get bytes(): number {
    return this.#bytes;
  }

  get durationTicks(): number {
    return this.#starts[this.#length]!;
  }

  get longestTicks(): number {
    return this.#longestTicks;
  }

  /** Bytes of memory. */
  get memoryBytes(): number {
    return this.#rows.byteLength + this.#starts.byteLength + this.#recordStarts.byteLength;
  }

  /** @throws AppError `media-malformed` for what the table cannot hold */
  push({ durationTicks, bytes, recordBytes, recordCheck }: SegmentRow): void {
    if (this.#length >= MAX_SEGMENTS || Math.max(durationTicks, bytes, recordBytes) > 0xffffffff) {
      throw new AppError('media-malformed', `segment ${this.#length} is out of all bounds`);
    }
    const index = this.#length;
    if (index * COLUMNS === this.#rows.length) this.#grow();
    this.#rows.set([durationTicks, bytes, recordBytes, recordCheck], index * COLUMNS);
    this.#length += 1;
    this.#starts[index + 1] = this.#starts[index]! + durationTicks;
    this.#recordStarts[index + 1] = this.#recordStarts[index]! + recordBytes;
    this.#bytes += bytes;
    this.#longestTicks = Math.max(this.#longestTicks, durationTicks);
  }

  /** @throws AppError `server-error` when there is no such segment */
  row(index: number): SegmentRow & { readonly startTicks: number; readonly recordStart: number } {
    if (!Number.isInteger(index) || index < 0 || index >= this.#length) {
      throw new AppError('server-error', `no segment ${index} among ${this.#length}`);
    }
    const at = index * COLUMNS;
    return {
      durationTicks: this.#rows[at]!,
      bytes: this.#rows[at + 1]!,
      recordBytes: this.#rows[at + 2]!,
      recordCheck: this.#rows[at + 3]!,
      startTicks: this.#starts[index]!,
      recordStart: this.#recordStarts[index]!,
    };
  }

  /** The form in which it is stored: 32 bit numbers, little-endian. */
  toBytes(): Buffer {
    const bytes = Buffer.allocUnsafe(this.#length * STORED_SEGMENT_BYTES);
    for (let index = 0; index < this.#length * COLUMNS; index++) {
      bytes.writeUInt32LE(this.#rows[index]!, index * 4);
    }
    return bytes;
  }

  /** @throws AppError `media-malformed` */
  static fromBytes(bytes: Buffer): SegmentTable {
    const table = new SegmentTable(Math.max(1, bytes.length / STORED_SEGMENT_BYTES));
    for (let at = 0; at < bytes.length; at += STORED_SEGMENT_BYTES) {
      table.push({
        durationTicks: bytes.readUInt32LE(at),
        bytes: bytes.readUInt32LE(at + 4),
        recordBytes: bytes.readUInt32LE(at + 8),
        recordCheck: bytes.readUInt32LE(at + 12),
      });
    }
    return table;
  }

  /**
   * Peak and average bit rate: the peak is the largest of any run of segments that lasts from half a target duration to one and a half
   * and half a second, or, where no run does, of any shorter one.
   *
   * **Source**: draft-pantos-hls-rfc8216bis-22, 4.1.
   */
  bitRates(timescale: number, targetDurationSeconds: number): BitRates {
    const least = 0.5 * targetDurationSeconds;
    const most = 1.5 * targetDurationSeconds + 0.5;
    let peak = 0;
    let any = 0;
    for (let from = 0; from < this.#length; from++) {
      let bytes = 0;
      let seconds = 0;
      for (let to = from; to < this.#length; to++) {
        bytes += this.#rows[to * COLUMNS + 1]!;
        seconds += listedSeconds(this.#rows[to * COLUMNS]! / timescale);
        const rate = seconds === 0 ? 0 : (8 * bytes) / seconds;
        if (seconds >= least && seconds <= most) peak = Math.max(peak, rate);
        any = Math.max(any, rate);
        if (seconds >= most) break;
      }
    }
    const seconds = this.durationTicks / timescale;
    return {
      peakBitsPerSecond: Math.ceil(peak === 0 ? any : peak),
      averageBitsPerSecond: seconds === 0 ? 0 : Math.ceil((8 * this.#bytes) / seconds),
    };
  }

  #grow(): void {
    const room = Math.max(16, this.#length * 2);
    const rows = new Uint32Array(COLUMNS * room);
    const starts = new Float64Array(room + 1);
    const recordStarts = new Float64Array(room + 1);
    rows.set(this.#rows);
    starts.set(this.#starts);
    recordStarts.set(this.#recordStarts);
    this.#rows = rows;
    this.#starts = starts;
    this.#recordStarts = recordStarts;
  }
}

/** A duration as EXTINF lists it, from which players work out the rate. */
function listedSeconds(seconds: number): number {
  return Math.round(seconds * 100_000) / 100_000;
}
