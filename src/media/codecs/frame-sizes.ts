import { av1FrameSize, av1Parameters } from './av1-parameters.ts';
import {
  avcFrameSize,
  avcOrder,
  avcParameters,
  type FrameSize,
  hevcFrameSize,
  hevcOrder,
  hevcParameters,
  type VideoOrder,
  type VideoParameters,
} from './parameter-set.ts';
import { readVp8Frame, vp8FrameSize } from './vp8.ts';

export type VideoSampleEntryType = 'avc1' | 'hvc1' | 'av01' | 'vp08';

/** Maximum units per frame; parameter sets precede the slices. */
const MAX_UNITS = 64;
/** ITU-T H.264 table 7-1, ITU-T H.265 table 7-1. */
const AVC_SPS = 7;
const HEVC_SPS = 33;
const HEVC_PPS = 34;
/** AV1 specification, 6.2.2. */
const AV1_SEQUENCE_HEADER = 1;
/** Bytes of a configuration record before its units. */
const AV1_RECORD_BYTES = 4;

interface VideoConfig {
  /** Size of the length field before each NAL unit. */
  readonly lengthBytes: number;
  readonly sizes: readonly FrameSize[];
}

/** Record in avcC, hvcC (ISO/IEC 14496-15:2022, 5.3.3.1 and 8.3.3.1) or av1C, or that of {@link vp8Record}. */
export function readVideoConfig(codec: VideoSampleEntryType, record: Buffer): VideoConfig {
  switch (codec) {
    case 'avc1':
      return {
        lengthBytes: ((record[4] ?? 3) & 3) + 1,
        sizes: sizesOf(countedUnits(record, 6, (record[5] ?? 0) & 0x1f).map(avcFrameSize)),
      };
    case 'hvc1':
      return {
        lengthBytes: ((record[21] ?? 3) & 3) + 1,
        sizes: sizesOf(hevcParameterSets(record, HEVC_SPS).map(hevcFrameSize)),
      };
    case 'av01':
      return { lengthBytes: 0, sizes: readFrameSizes(codec, record.subarray(AV1_RECORD_BYTES), 0) };
    case 'vp08':
      return { lengthBytes: 0, sizes: sizesOf([vp8FrameSize(record)]) };
  }
}

/** Reads the first sequence parameter set of a record, the sequence header in AV1 units, or the size of VP8. */
export function readVideoParameters(
  codec: VideoSampleEntryType,
  recordOrUnits: Buffer,
): VideoParameters | undefined {
  if (codec === 'vp08') {
    const size = vp8FrameSize(recordOrUnits);
    return size && { size };
  }
  const parameters =
    codec === 'avc1'
      ? countedUnits(recordOrUnits, 6, (recordOrUnits[5] ?? 0) & 0x1f).map(avcParameters)
      : codec === 'hvc1'
        ? hevcParameterSets(recordOrUnits, HEVC_SPS).map(hevcParameters)
        : av1SequenceHeaders(recordOrUnits).map(av1Parameters);
  return parameters.find(each => each !== undefined);
}

/** Reads the first sequence parameter set, or sequence header, of a record as in {@link readVideoConfig}. */
export function readRecordParameters(
  codec: VideoSampleEntryType,
  record: Buffer,
): VideoParameters | undefined {
  return readVideoParameters(codec, codec === 'av01' ? record.subarray(AV1_RECORD_BYTES) : record);
}

/** Reads the first sequence parameter set of a record. Undefined for codecs that put frames into the order of display. */
export function readVideoOrder(codec: VideoSampleEntryType, record: Buffer): VideoOrder | undefined {
  const orders =
    codec === 'avc1'
      ? countedUnits(record, 6, (record[5] ?? 0) & 0x1f).map(avcOrder)
      : codec === 'hvc1'
        ? hevcParameterSets(record, HEVC_SPS).map(sps => hevcOrder(sps, hevcParameterSets(record, HEVC_PPS)))
        : [];
  return orders.find(each => each !== undefined);
}

/** Result for nearly every frame. */
const noSizes: readonly FrameSize[] = [];

/** Reads in-band parameter sets, which decoders follow over the configuration. */
export function readFrameSizes(
  codec: VideoSampleEntryType,
  frame: Buffer,
  lengthBytes: number,
): readonly FrameSize[] {
  if (codec === 'av01') return sizesOf(av1SequenceHeaders(frame).map(av1FrameSize));
  if (codec === 'vp08') return sizesOf([readVp8Frame(frame)?.size]);
  // The configuration was of another codec.
  if (lengthBytes === 0) return noSizes;
  let sizes: (FrameSize | undefined)[] | undefined;
  let at = 0;
  for (let units = 0; units < MAX_UNITS && at + lengthBytes < frame.length; units++) {
    const length = frame.readUIntBE(at, lengthBytes);
    if (length === 0) break;
    at += lengthBytes;
    const first = frame.readUInt8(at);
    const isSet = codec === 'avc1' ? (first & 0x1f) === AVC_SPS : ((first >> 1) & 0x3f) === HEVC_SPS;
    if (isSet) {
      const unit = frame.subarray(at, at + length);
      sizes ??= [];
      sizes.push(codec === 'avc1' ? avcFrameSize(unit) : hevcFrameSize(unit));
    }
    at += length;
  }
  return sizes === undefined ? noSizes : sizesOf(sizes);
}

function sizesOf(sizes: readonly (FrameSize | undefined)[]): FrameSize[] {
  return sizes.filter(size => size !== undefined);
}

function countedUnits(record: Buffer, start: number, count: number): Buffer[] {
  const units: Buffer[] = [];
  let at = start;
  for (let left = Math.min(count, MAX_UNITS); left > 0 && at + 2 <= record.length; left--) {
    const length = record.readUInt16BE(at);
    units.push(record.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  return units;
}

/** The parameter sets of an hvcC record. ISO/IEC 14496-15:2022, 8.3.3.1. @param wanted their type, or all */
export function hevcParameterSets(record: Buffer, wanted?: number): Buffer[] {
  const sets: Buffer[] = [];
  let at = 23;
  for (let arrays = record[22] ?? 0; arrays > 0 && at + 3 <= record.length; arrays--) {
    const type = record.readUInt8(at) & 0x3f;
    const count = record.readUInt16BE(at + 1);
    const units = countedUnits(record, at + 3, count);
    // The position of the next array is unknown at the unit limit.
    if (units.length < count) return sets;
    if (wanted === undefined || type === wanted) sets.push(...units);
    at += 3 + units.reduce((sum, { length }) => sum + 2 + length, 0);
  }
  return sets;
}

/** Finds the sequence headers. Only the last OBU of a frame may lack its size (AV1 specification, 5.3). */
function av1SequenceHeaders(obus: Buffer): Buffer[] {
  const headers: Buffer[] = [];
  let at = 0;
  for (let units = 0; units < MAX_UNITS && at < obus.length; units++) {
    const first = obus.readUInt8(at);
    const type = (first >> 3) & 0x0f;
    const hasSize = (first & 2) !== 0;
    at += (first & 4) === 0 ? 1 : 2;
    let length = obus.length - at;
    if (hasSize) {
      length = 0;
      for (let shift = 0; shift < 56; shift += 7) {
        const byte = obus[at++] ?? 0;
        length += (byte & 0x7f) * 2 ** shift;
        if ((byte & 0x80) === 0) break;
      }
    }
    if (type === AV1_SEQUENCE_HEADER) headers.push(obus.subarray(at, at + length));
    at += length;
  }
  return headers;
}
