import type { FrameSize } from './parameter-set.ts';

interface Vp8Frame {
  /** Undefined between keyframes. */
  readonly size: FrameSize | undefined;
}

const frameTagBytes = 3;
const START_CODE = Buffer.from([0x9d, 0x01, 0x2a]);
/** Start code, width and height. */
const sizeBytes = 7;
const maxVersion = 3;
/** The other two bits ask for upscaling, which decoders leave out. */
const sideMask = 0x3fff;

/** Reads the uncompressed header of a frame; undefined for a malformed one. RFC 6386, 9.1. */
export function readVp8Frame(frame: Buffer): Vp8Frame | undefined {
  if (frame.length <= frameTagBytes) return undefined;
  const tag = frame.readUIntLE(0, frameTagBytes);
  const isKeyframe = (tag & 1) === 0;
  const firstPartitionBytes = tag >> 5;
  const headerBytes = frameTagBytes + (isKeyframe ? sizeBytes : 0);
  if (((tag >> 1) & 7) > maxVersion || firstPartitionBytes === 0) return undefined;
  if (headerBytes + firstPartitionBytes > frame.length) return undefined;
  if (!isKeyframe) return { size: undefined };
  const size = vp8FrameSize(frame.subarray(frameTagBytes));
  return size && { size };
}

/**
 * Returns what changes with the size of the video, in place of a configuration, which VP8 does not have: the start code and
 * the size, as keyframes have them.
 */
export function vp8Record({ width, height }: FrameSize): Buffer {
  const record = Buffer.alloc(sizeBytes);
  START_CODE.copy(record);
  record.writeUInt16LE(width, 3);
  record.writeUInt16LE(height, 5);
  return record;
}

/** Reads a {@link vp8Record}, or what begins so. */
export function vp8FrameSize(record: Buffer): FrameSize | undefined {
  if (record.length < sizeBytes || !record.subarray(0, START_CODE.length).equals(START_CODE))
    return undefined;
  const width = record.readUInt16LE(3) & sideMask;
  const height = record.readUInt16LE(5) & sideMask;
  return width === 0 || height === 0 ? undefined : { width, height };
}
