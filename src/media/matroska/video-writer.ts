import type { VideoSampleEntryType } from '../codecs/frame-sizes.ts';

interface MatroskaVideo {
  readonly codec: VideoSampleEntryType;
  /** Body of the configuration box in MP4; VP8 has none. */
  readonly record: Buffer;
  readonly width: number;
  readonly height: number;
}

const codecIds = { avc1: 'V_MPEG4/ISO/AVC', hvc1: 'V_MPEGH/ISO/HEVC', av01: 'V_AV1', vp08: 'V_VP8' } as const;
const videoTrack = 1;
const nanosecondsPerMs = 1_000_000;
/** Size of a master element that ends with the file. */
const UNKNOWN_SIZE = Buffer.from([0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
/** In this form, sizes have eight bytes. */
const MAX_SIZE_LENGTH = 8;
const KEYFRAME = 0x80;

/**
 * Begins a Matroska file of one video track, with times in milliseconds. RFC 9559, 5.1.
 * All versions of ffmpeg read its codecs, and remember nothing of what they have read.
 */
export function matroskaVideoHeader({ codec, record, width, height }: MatroskaVideo): Buffer {
  return Buffer.concat([
    element(
      0x1a45dfa3,
      uint(0x42f2, 4),
      uint(0x42f3, MAX_SIZE_LENGTH),
      text(0x4282, 'matroska'),
      uint(0x4287, 4),
      uint(0x4285, 2),
    ),
    id(0x18538067),
    UNKNOWN_SIZE,
    element(0x1549a966, uint(0x2ad7b1, nanosecondsPerMs), text(0x4d80, 'millrace'), text(0x5741, 'millrace')),
    element(
      0x1654ae6b,
      element(
        0xae,
        uint(0xd7, videoTrack),
        uint(0x73c5, videoTrack),
        uint(0x83, 1),
        uint(0x9c, 0),
        text(0x86, codecIds[codec]),
        ...(codec === 'vp08' ? [] : [element(0x63a2, record)]),
        element(0xe0, uint(0xb0, width), uint(0xba, height)),
      ),
    ),
  ]);
}

/** A cluster of one frame, without the frame's bytes, which follow. RFC 9559, 10.1. @param shownMs whole, from 0 */
export function matroskaFrameHeader(shownMs: number, isKeyframe: boolean, frameBytes: number): Buffer {
  const time = uint(0xe7, shownMs);
  const block = Buffer.from([0x80 | videoTrack, 0, 0, isKeyframe ? KEYFRAME : 0]);
  const blockBytes = block.length + frameBytes;
  const blockHead = Buffer.concat([id(0xa3), size(blockBytes), block]);
  return Buffer.concat([id(0x1f43b675), size(time.length + blockHead.length + frameBytes), time, blockHead]);
}

function element(elementId: number, ...body: readonly Buffer[]): Buffer {
  const bytes = body.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([id(elementId), size(bytes), ...body]);
}

function uint(elementId: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return element(elementId, bytes);
}

function text(elementId: number, value: string): Buffer {
  return element(elementId, Buffer.from(value, 'latin1'));
}

/** RFC 8794, 5: the length of an ID is in its first bits. */
function id(elementId: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(elementId);
  return bytes.subarray(bytes.findIndex(byte => byte !== 0));
}

/** RFC 8794, 4: a marker bit, then 56 bits. */
function size(bytes: number): Buffer {
  const written = Buffer.alloc(8);
  written.writeBigUInt64BE(BigInt(bytes));
  written[0] = 0x01;
  return written;
}
