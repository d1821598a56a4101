import { AppError } from '../../shared/errors.ts';
import type { FileSlice } from '../../shared/files/file-slice.ts';
import type { SegmentBytes } from './rendition.ts';

/** Merges adjacent byte ranges, because many files have one chunk per frame. */
export class SliceList {
  readonly #starts: number[] = [];
  readonly #lengths: number[] = [];

  get length(): number {
    return this.#starts.length;
  }

  push(start: number, length: number): void {
    const last = this.#starts.length - 1;
    if (last >= 0 && this.#starts[last]! + this.#lengths[last]! === start) this.#lengths[last]! += length;
    else {
      this.#starts.push(start);
      this.#lengths.push(length);
    }
  }

  clear(): void {
    this.#starts.length = 0;
    this.#lengths.length = 0;
  }

  *[Symbol.iterator](): Generator<{ start: number; length: number }> {
    for (let index = 0; index < this.#starts.length; index++) {
      yield { start: this.#starts[index]!, length: this.#lengths[index]! };
    }
  }
}

const MAX_NUMBER_BYTES = 8;

/**
 * Encodes the length of the head (32 bit, little-endian), the head, the number of slices, and for each slice
 * its distance from the end of the previous one and its length. Numbers have seven bits per byte, low bits
 * first; signed distances are zigzag-encoded. `head` is sent before the slices.
 */
export function encodeRecord(head: Buffer, slices: SliceList): Buffer {
  const bytes = Buffer.allocUnsafe(4 + head.length + MAX_NUMBER_BYTES * (1 + 2 * slices.length));
  let at = bytes.writeUInt32LE(head.length, 0);
  at += head.copy(bytes, at);
  const number = (value: number) => {
    let left = value;
    while (left >= 0x80) {
      bytes[at++] = (left % 0x80) | 0x80;
      left = Math.floor(left / 0x80);
    }
    bytes[at++] = left;
  };
  number(slices.length);
  let end = 0;
  for (const { start, length } of slices) {
    const gap = start - end;
    number(gap < 0 ? -2 * gap - 1 : 2 * gap);
    number(length);
    end = start + length;
  }
  return bytes.subarray(0, at);
}

/** @throws AppError `server-error` for a damaged record, or slices outside of the media file */
export function decodeRecord(record: Buffer, media: { path: string; bytes: number }): SegmentBytes {
  if (record.length < 5) throw damaged();
  const headBytes = record.readUInt32LE(0);
  if (headBytes > record.length - 5) throw damaged();
  const parts: (Buffer | FileSlice)[] = [];
  let bytes = headBytes;
  if (headBytes > 0) parts.push(record.subarray(4, 4 + headBytes));
  let at = 4 + headBytes;
  const number = () => {
    let value = 0;
    for (let factor = 1; factor < 2 ** 56; factor *= 0x80) {
      const byte = record[at++];
      if (byte === undefined) throw damaged();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw damaged();
  };
  let end = 0;
  for (let left = number(); left > 0; left--) {
    const gap = number();
    const start = end + (gap % 2 === 1 ? -(gap + 1) / 2 : gap / 2);
    const length = number();
    end = start + length;
    if (start < 0 || end > media.bytes) throw damaged();
    parts.push({ path: media.path, start, length });
    bytes += length;
  }
  if (at !== record.length) throw damaged();
  return { parts, bytes };
}

function damaged(): AppError {
  return new AppError('server-error', 'A segment record of a rendition index is damaged.');
}
