import { type Box, childBoxes, FieldReader, malformed } from './box-reader.ts';

/** Header included, up to the first child box. */
const VIDEO_FIELDS_BYTES = 86;
const AUDIO_FIELDS_BYTES = 36;

/** Maximum size of an entry, which is kept in memory and sent to every player. */
export const MAX_SAMPLE_ENTRY_BYTES = 256 * 1024;

export interface SampleEntryFields {
  readonly type: string;
  readonly boxes: readonly Box[];
  /** Video: coded size in pixels, before the pixel aspect ratio. */
  readonly width?: number;
  readonly height?: number;
  /** Audio: 0 when the 16-bit field is too small (FLAC above 65535 Hz). */
  readonly sampleRate?: number;
  readonly channels?: number;
}

/** Reads one box of an `stsd` (ISO/IEC 14496-12:2022, 12.1.3 and 12.2.3). @throws AppError `media-malformed` */
export function readSampleEntry(entry: Buffer, kind: 'video' | 'audio'): SampleEntryFields {
  const [whole] = childBoxes(entry, 0, entry.length, 'stsd');
  if (whole === undefined || whole.end !== entry.length) throw malformed('stsd', 'needs one sample entry');
  const type = whole.type;
  if (kind === 'video') {
    const fields = new FieldReader(entry, whole, 24);
    const width = fields.u16();
    const height = fields.u16();
    if (width === 0 || height === 0) throw malformed(type, 'picture without width or height');
    fields.skip(VIDEO_FIELDS_BYTES - 36);
    return { type, boxes: childBoxes(entry, fields.position, whole.end, type), width, height };
  }
  const fields = new FieldReader(entry, whole, 16);
  const channels = fields.u16();
  fields.skip(6);
  const sampleRate = fields.u16();
  fields.skip(AUDIO_FIELDS_BYTES - 34);
  return { type, boxes: childBoxes(entry, fields.position, whole.end, type), channels, sampleRate };
}

export function readChildBox(entry: Buffer, fields: SampleEntryFields, type: string): FieldReader {
  const found = fields.boxes.find(box => box.type === type);
  if (found === undefined) throw malformed(fields.type, `has no "${type}"`);
  return new FieldReader(entry, found);
}

/** Encoders write three to ten. */
const MAX_HEVC_UNITS = 256;

interface HevcArray {
  /** Position of the byte with array_completeness and the type in the sample entry. */
  readonly position: number;
  /** 0..63: 32 VPS, 33 SPS, 34 PPS. */
  readonly type: number;
  readonly units: readonly Buffer[];
}

/** ISO/IEC 14496-15:2022, 8.3.2.1. @throws AppError `media-malformed` */
export function readHevcArrays(entry: Buffer, fields: SampleEntryFields): HevcArray[] {
  const config = readChildBox(entry, fields, 'hvcC');
  config.skip(22);
  const arrays: HevcArray[] = [];
  let allUnits = 0;
  for (let arraysLeft = config.u8(); arraysLeft > 0; arraysLeft--) {
    const position = config.position;
    const type = config.u8() & 0x3f;
    const units: Buffer[] = [];
    const count = config.u16();
    allUnits += count;
    if (allUnits > MAX_HEVC_UNITS) throw malformed('hvcC', `has more than ${MAX_HEVC_UNITS} NAL units`);
    for (let left = count; left > 0; left--) units.push(config.bytes(config.u16()));
    arrays.push({ position, type, units });
  }
  return arrays;
}
