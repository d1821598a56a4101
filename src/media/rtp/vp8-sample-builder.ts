import type { BuiltSample } from '../codecs/video-sample-builder.ts';
import { readVp8Frame, vp8Record } from '../codecs/vp8.ts';

/** Flags of the payload descriptor. RFC 7741, 4.2. */
const EXTENDED = 0x80;
const STARTS_PARTITION = 0x10;
const PARTITION_INDEX = 0x07;
const HAS_PICTURE_ID = 0x80;
const HAS_TL0PICIDX = 0x40;
const HAS_TID = 0x20;
const HAS_KEYIDX = 0x10;
const LONG_PICTURE_ID = 0x80;

/** Turns frames from RTP into samples, and the size of keyframes into configurations. */
export class Vp8SampleBuilder {
  #record: Buffer | undefined;

  /** Undefined for malformed payloads, and before the first keyframe. @param payloads all of one frame */
  build(payloads: readonly Buffer[]): BuiltSample | undefined {
    const data = frameOf(payloads);
    const frame = data && readVp8Frame(data);
    if (data === undefined || frame === undefined) return undefined;
    const { size } = frame;
    const record = size && vp8Record(size);
    const isNew = record !== undefined && !this.#record?.equals(record);
    if (isNew) this.#record = record;
    if (this.#record === undefined) return undefined;
    return { record: isNew ? record : undefined, data, isKeyframe: size !== undefined };
  }
}

function frameOf(payloads: readonly Buffer[]): Buffer | undefined {
  const pieces: Buffer[] = [];
  for (const payload of payloads) {
    const start = descriptorBytes(payload);
    if (start >= payload.length) return undefined;
    const first = payload[0]!;
    const startsFrame = (first & STARTS_PARTITION) !== 0 && (first & PARTITION_INDEX) === 0;
    if (startsFrame !== (pieces.length === 0)) return undefined;
    pieces.push(payload.subarray(start));
  }
  return Buffer.concat(pieces);
}

/** May be more than the payload has. */
function descriptorBytes(payload: Buffer): number {
  if ((payload[0]! & EXTENDED) === 0) return 1;
  const flags = payload[1] ?? 0;
  let bytes = 2;
  if ((flags & HAS_PICTURE_ID) !== 0) bytes += ((payload[bytes] ?? 0) & LONG_PICTURE_ID) === 0 ? 1 : 2;
  if ((flags & HAS_TL0PICIDX) !== 0) bytes += 1;
  if ((flags & (HAS_TID | HAS_KEYIDX)) !== 0) bytes += 1;
  return bytes;
}
