import { type Box, childBoxes, FieldReader, malformed } from './box-reader.ts';
import { box, u8, u16, u32 } from './box-writer.ts';

/** Bytes before the first child box, by version of the sound description. */
const FIELDS_BYTES = [36, 52, 72];

/** Converts entries with a `wave` box to ISO form (QuickTime File Format, "Sound Sample Descriptions"). */
export function isoAudioEntry(entry: Buffer): Buffer {
  const whole: Box = { type: 'mp4a', start: 0, bodyStart: 8, end: entry.length };
  const fields = new FieldReader(entry, whole, 8);
  const version = fields.u16();
  const fieldsBytes = FIELDS_BYTES[version];
  if (fieldsBytes === undefined) throw malformed('mp4a', `sound description of version ${version}`);
  if (entry.length < fieldsBytes) throw malformed('mp4a', 'is truncated');
  const boxes = childBoxes(entry, fieldsBytes, entry.length, 'mp4a');
  const wave = boxes.find(({ type }) => type === 'wave');
  if (version === 0 && wave === undefined) return entry;
  fields.skip(6);
  let channels = fields.u16();
  fields.skip(6);
  let sampleRate = fields.u16();
  if (version === 2) {
    sampleRate = entry.readDoubleBE(40);
    channels = entry.readUInt32BE(48);
  }
  if (!(sampleRate >= 1 && sampleRate <= 0xffff) || channels < 1 || channels > 0xffff) {
    throw malformed('mp4a', 'sample rate or channels out of range');
  }
  const inWave = wave === undefined ? [] : wavesChildren(entry, wave);
  const esds = [...boxes, ...inWave].find(({ type }) => type === 'esds');
  if (esds === undefined) throw malformed('mp4a', 'has no "esds"');
  return box(
    'mp4a',
    u8(0, 0, 0, 0, 0, 0),
    u16(1), // data reference
    u32(0, 0),
    u16(channels, 16, 0, 0), // channels, sample size, reserved
    u32(Math.round(sampleRate) * 0x10000),
    box('esds', entry.subarray(esds.bodyStart, esds.end)),
  );
}

/** `wave` ends with an atom of eight zero bytes, or of four, which is not a valid box. */
function wavesChildren(entry: Buffer, wave: Box): Box[] {
  const boxes: Box[] = [];
  let at = wave.bodyStart;
  while (wave.end - at >= 8) {
    const size = entry.readUInt32BE(at);
    if (size < 8 || size > wave.end - at) break;
    boxes.push({
      type: entry.toString('latin1', at + 4, at + 8),
      start: at,
      bodyStart: at + 8,
      end: at + size,
    });
    at += size;
  }
  return boxes;
}

const VIDEO_FIELDS_BYTES = 86;

/** Removes the four zero bytes that QuickTime may append to its boxes ("Video Sample Description Extensions"). */
export function isoVideoEntry(entry: Buffer): Buffer {
  let at = VIDEO_FIELDS_BYTES;
  while (entry.length - at >= 8) {
    const size = entry.readUInt32BE(at);
    if (size < 8 || size > entry.length - at) return entry;
    at += size;
  }
  if (entry.length - at !== 4 || entry.readUInt32BE(at) !== 0) return entry;
  return box(entry.toString('latin1', 4, 8), entry.subarray(8, at));
}
