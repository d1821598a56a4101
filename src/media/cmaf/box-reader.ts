import { AppError } from '../../shared/errors.ts';

/** An ISO BMFF box; positions are byte offsets into its buffer. */
export interface Box {
  readonly type: string;
  /** Includes the header. */
  readonly start: number;
  /** Offset of the body, after the header. */
  readonly bodyStart: number;
  readonly end: number;
}

/** Real files have a few dozen; a `moof` has one `trun` per run of samples. */
const MAX_CHILD_BOXES = 4096;

export function malformed(box: string, problem: string): AppError {
  return new AppError('media-malformed', `box "${printable(box)}": ${problem}`);
}

/** Replaces bytes outside printable ASCII by dots. */
export function printable(type: string): string {
  return type.replace(/[^\x20-\x7e]/g, '.');
}

/** ISO/IEC 14496-12:2022, 4.2. @throws AppError `media-malformed`, naming `parent` */
export function childBoxes(bytes: Buffer, start: number, end: number, parent: string): Box[] {
  const boxes: Box[] = [];
  let at = start;
  while (at < end) {
    if (end - at < 8) throw malformed(parent, `${end - at} extra bytes at its end`);
    const type = bytes.toString('latin1', at + 4, at + 8);
    let size = bytes.readUInt32BE(at);
    let headerBytes = 8;
    if (size === 1) {
      if (end - at < 16) throw malformed(type, 'the 64 bit size is truncated');
      size = Number(bytes.readBigUInt64BE(at + 8));
      headerBytes = 16;
    } else if (size === 0) {
      size = end - at;
    }
    if (size < headerBytes || size > end - at) {
      throw malformed(type, `size ${size}, but "${printable(parent)}" has ${end - at} bytes left`);
    }
    if (boxes.length === MAX_CHILD_BOXES) throw malformed(parent, `has more than ${MAX_CHILD_BOXES} boxes`);
    boxes.push({ type, start: at, bodyStart: at + headerBytes, end: at + size });
    at += size;
  }
  return boxes;
}

/** @throws AppError `media-malformed` */
export function findChildBox(bytes: Buffer, parent: Box, type: string): Box | undefined {
  return childBoxes(bytes, parent.bodyStart, parent.end, parent.type).find(box => box.type === type);
}

export function requireChildBox(bytes: Buffer, parent: Box, type: string): Box {
  return requireBox(childBoxes(bytes, parent.bodyStart, parent.end, parent.type), type, parent.type);
}

export function requireBox(boxes: readonly Box[], type: string, parent: string): Box {
  const found = boxes.find(box => box.type === type);
  if (found === undefined) throw malformed(parent, `has no "${type}"`);
  return found;
}

/** Reads fields in order, never past the end of the box. */
export class FieldReader {
  readonly #bytes: Buffer;
  readonly #type: string;
  readonly #end: number;
  #at: number;

  constructor(bytes: Buffer, box: Pick<Box, 'type' | 'bodyStart' | 'end'>, skip = 0) {
    this.#bytes = bytes;
    this.#type = box.type;
    this.#end = box.end;
    this.#at = box.bodyStart;
    this.skip(skip);
  }

  get remaining(): number {
    return this.#end - this.#at;
  }

  get position(): number {
    return this.#at;
  }

  skip(count: number): void {
    this.#take(count);
  }

  u8(): number {
    return this.#bytes.readUInt8(this.#take(1));
  }

  u16(): number {
    return this.#bytes.readUInt16BE(this.#take(2));
  }

  u24(): number {
    return this.#bytes.readUIntBE(this.#take(3), 3);
  }

  u32(): number {
    return this.#bytes.readUInt32BE(this.#take(4));
  }

  i32(): number {
    return this.#bytes.readInt32BE(this.#take(4));
  }

  /** @throws AppError `media-malformed` above 2^53 - 1 */
  u64(): number {
    const value = this.#bytes.readBigUInt64BE(this.#take(8));
    if (value > BigInt(Number.MAX_SAFE_INTEGER))
      throw malformed(this.#type, `number ${value} is out of range`);
    return Number(value);
  }

  bytes(count: number): Buffer {
    const from = this.#take(count);
    return this.#bytes.subarray(from, from + count);
  }

  #take(count: number): number {
    if (count > this.remaining)
      throw malformed(this.#type, `needs ${count} bytes, has ${this.remaining} left`);
    const from = this.#at;
    this.#at += count;
    return from;
  }
}
