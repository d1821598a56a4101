import type { VideoSampleEntryType } from './frame-sizes.ts';
import { hasRecoveryPoint } from './sei-messages.ts';
import { readVp8Frame } from './vp8.ts';

/**
 * `sync` can be decoded without earlier frames. From `recovery` on, a decoder that began earlier shows whole pictures
 * after a while: encoders mark it as a keyframe, and players cannot start there. `empty` holds parameter sets, delimiters or filler only. In `malformed`
 * ones, the lengths do not fit.
 */
type AccessUnit = 'sync' | 'recovery' | 'frame' | 'empty' | 'malformed';

/** ITU-T H.264 (08/2021), table 7-1; ITU-T H.265 (08/2021), table 7-1. */
const AVC_SLICE = 1;
const AVC_IDR_SLICE = 5;
const AVC_SEI = 6;
const HEVC_IRAP_FIRST = 16;
const HEVC_IRAP_LAST = 23;
const HEVC_SLICE_LAST = 31;
/** AV1 specification, 6.2.2. */
const AV1_TEMPORAL_DELIMITER = 2;
const AV1_FRAME_HEADER = 3;
const AV1_FRAME = 6;

export function classifyAccessUnit(
  codec: VideoSampleEntryType,
  data: Buffer,
  lengthBytes: number,
): AccessUnit {
  if (codec === 'av01') return classifyAv1(data);
  if (codec === 'vp08') return classifyVp8(data);
  let hasSlice = false;
  let isRandomAccess = false;
  let isRecoveryPoint = false;
  let at = 0;
  while (at < data.length) {
    if (at + lengthBytes > data.length) return 'malformed';
    const length = lengthBytes === 4 ? data.readUInt32BE(at) : data.readUIntBE(at, lengthBytes);
    at += lengthBytes;
    if (length > data.length - at) return 'malformed';
    if (length === 0) continue;
    const first = data[at]!;
    if (codec === 'avc1') {
      const type = first & 0x1f;
      if (type >= AVC_SLICE && type <= AVC_IDR_SLICE) hasSlice = true;
      if (type === AVC_IDR_SLICE) isRandomAccess = true;
      if (type === AVC_SEI) isRecoveryPoint ||= hasRecoveryPoint(data.subarray(at, at + length));
    } else {
      const type = (first >> 1) & 0x3f;
      if (type <= HEVC_SLICE_LAST) hasSlice = true;
      if (type >= HEVC_IRAP_FIRST && type <= HEVC_IRAP_LAST) isRandomAccess = true;
    }
    at += length;
  }
  if (!hasSlice) return 'empty';
  if (isRandomAccess) return 'sync';
  return isRecoveryPoint ? 'recovery' : 'frame';
}

/** A key frame that is shown from an earlier one is not decodable on its own. AV1 specification, 5.3 and 5.9.2. */
function classifyAv1(data: Buffer): AccessUnit {
  let at = 0;
  while (at < data.length) {
    const header = data[at]!;
    const type = (header >> 3) & 0x0f;
    at += (header & 4) === 0 ? 1 : 2;
    let length = data.length - at;
    if ((header & 2) !== 0) {
      length = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = data[at++];
        if (byte === undefined || shift > 28) return 'malformed';
        length += (byte & 0x7f) * 2 ** shift;
        if ((byte & 0x80) === 0) break;
      }
    }
    if (length < 0 || length > data.length - at) return 'malformed';
    if ((type === AV1_FRAME || type === AV1_FRAME_HEADER) && length > 0) {
      // show_existing_frame, then frame_type, of which 0 is a key frame.
      return (data[at]! & 0xe0) === 0 ? 'sync' : 'frame';
    }
    at += length;
  }
  return 'empty';
}

function classifyVp8(data: Buffer): AccessUnit {
  const frame = readVp8Frame(data);
  if (frame === undefined) return 'malformed';
  return frame.size === undefined ? 'frame' : 'sync';
}

/** Samples have no temporal delimiters (AV1 in ISOBMFF 1.2.0, 2.4). */
export function withoutTemporalDelimiter(data: Buffer): Buffer {
  const isDelimiter = data[0] === ((AV1_TEMPORAL_DELIMITER << 3) | 2) && data[1] === 0;
  return isDelimiter ? data.subarray(2) : data;
}
