import { AppError } from '../../shared/errors.ts';
import type { BitRates } from './rendition.ts';

const COLUMNS = 4;
export const STORED_SEGMENT_BYTES = 4 * COLUMNS;

/** Limits an index: more segments than a day of two seconds each. */
export const MAX_SEGMENTS = 50_000;

interface SegmentRow {
  readonly durationTicks: number;
  readonly bytes: number;
  readonly recordBytes: number;
  readonly recordCheck: number;
}

export class SegmentTable {
  #rows: Uint32Array;
  /** Starts in ticks and bytes, plus the end of the last segment. */
  #starts: Float64Array;
  #recordStarts: Float64Array;
  #length = 0;
  #bytes = 0;
  #maxDurationTicks = 0;

  constructor(capacity = 16) {
    this.#rows = new Uint32Array(COLUMNS * capacity);
    this.#starts = new Float64Array(capacity + 1);
    this.#recordStarts = new Float64Array(capacity + 1);
  }

  get length(): number {
    return this.#length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get durationTicks(): number {
    return this.#starts[this.#length]!;
  }

  get maxDurationTicks(): number {
    return this.#maxDurationTicks;
  }

  get memoryBytes(): number {
    return this.#rows.byteLength + this.#starts.byteLength + this.#recordStarts.byteLength;
  }

  /** @throws AppError `media-malformed` for what the table cannot hold */
  push({ durationTicks, bytes, recordBytes, recordCheck }: SegmentRow): void {
    if (this.#length >= MAX_SEGMENTS || Math.max(durationTicks, bytes, recordBytes) > 0xffffffff) {
      throw new AppError('media-malformed', `segment ${this.#length} exceeds the limits of an index`);
    }
    const index = this.#length;
    if (index * COLUMNS === this.#rows.length) this.#grow();
    this.#rows.set([durationTicks, bytes, recordBytes, recordCheck], index * COLUMNS);
    this.#length += 1;
    this.#starts[index + 1] = this.#starts[index]! + durationTicks;
    this.#recordStarts[index + 1] = this.#recordStarts[index]! + recordBytes;
    this.#bytes += bytes;
    this.#maxDurationTicks = Math.max(this.#maxDurationTicks, durationTicks);
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

  toBytes(): Buffer {
    const bytes = Buffer.allocUnsafe(this.#length * STORED_SEGMENT_BYTES);
    for (let index = 0; index < this.#length * COLUMNS; index++) {
      bytes.writeUInt32LE(this.#rows[index]!, index * 4);
    }
    return bytes;
  }

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
   * The peak is the highest of all runs of segments that last 0.5 to 1.5 target durations plus half a second,
   * or, without any, of shorter runs. **Source**: draft-pantos-hls-rfc8216bis-22, 4.1.
   */
  bitRates(timescale: number, targetDurationSeconds: number): BitRates {
    const minSeconds = 0.5 * targetDurationSeconds;
    const maxSeconds = 1.5 * targetDurationSeconds + 0.5;
    let peak = 0;
    let shortRunPeak = 0;
    for (let from = 0; from < this.#length; from++) {
      let bytes = 0;
      let seconds = 0;
      for (let to = from; to < this.#length; to++) {
        bytes += this.#rows[to * COLUMNS + 1]!;
        seconds += listedSeconds(this.#rows[to * COLUMNS]! / timescale);
        const rate = seconds === 0 ? 0 : (8 * bytes) / seconds;
        if (seconds >= minSeconds && seconds <= maxSeconds) peak = Math.max(peak, rate);
        shortRunPeak = Math.max(shortRunPeak, rate);
        if (seconds >= maxSeconds) break;
      }
    }
    const seconds = this.durationTicks / timescale;
    return {
      peakBitsPerSecond: Math.ceil(peak === 0 ? shortRunPeak : peak),
      averageBitsPerSecond: seconds === 0 ? 0 : Math.ceil((8 * this.#bytes) / seconds),
    };
  }

  #grow(): void {
    const capacity = Math.max(16, this.#length * 2);
    const rows = new Uint32Array(COLUMNS * capacity);
    const starts = new Float64Array(capacity + 1);
    const recordStarts = new Float64Array(capacity + 1);
    rows.set(this.#rows);
    starts.set(this.#starts);
    recordStarts.set(this.#recordStarts);
    this.#rows = rows;
    this.#starts = starts;
    this.#recordStarts = recordStarts;
  }
}

/** Rounds like EXTINF, because players compute bitrates from that. */
function listedSeconds(seconds: number): number {
  return Math.round(seconds * 100_000) / 100_000;
}
