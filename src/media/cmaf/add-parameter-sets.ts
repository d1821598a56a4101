import { avcParameterSets, PICTURE_PARAMETER_SET, SEQUENCE_PARAMETER_SET } from '../codecs/nal-units.ts';
import { malformed, requireBox } from './box-reader.ts';
import { box, u8, u16, u32 } from './box-writer.ts';
import { readSampleEntry } from './sample-entry.ts';

const MAX_SEQUENCE_SETS = 31;
const MAX_PICTURE_SETS = 255;

/** Adds sets to those of an `avc1` entry, behind its own. ISO/IEC 14496-15:2022, 5.3.3.1. @throws AppError `media-malformed` */
export function addParameterSets(sampleEntry: Buffer, added: readonly Buffer[]): Buffer {
  const { boxes } = readSampleEntry(sampleEntry, 'video');
  const config = requireBox(boxes, 'avcC', 'avc1');
  const record = sampleEntry.subarray(config.bodyStart, config.end);
  const own = avcParameterSets(record);
  if (own === undefined) throw malformed('avcC', 'is damaged');
  const ownBytes = own.units.reduce((sum, { length }) => sum + 2 + length, 7);
  const ofType = (type: number) => [...own.units, ...added].filter(unit => (unit[0]! & 0x1f) === type);
  const sps = ofType(SEQUENCE_PARAMETER_SET);
  const pps = ofType(PICTURE_PARAMETER_SET);
  if (sps.length > MAX_SEQUENCE_SETS || pps.length > MAX_PICTURE_SETS) {
    throw malformed('avcC', 'has too many parameter sets');
  }
  const changed = Buffer.concat([
    sampleEntry.subarray(8, config.start),
    box(
      'avcC',
      record.subarray(0, 5),
      u8(0xe0 | sps.length),
      ...sps.flatMap(unit => [u16(unit.length), unit]),
      u8(pps.length),
      ...pps.flatMap(unit => [u16(unit.length), unit]),
      record.subarray(ownBytes),
    ),
    sampleEntry.subarray(config.end),
  ]);
  return Buffer.concat([u32(8 + changed.length), sampleEntry.subarray(4, 8), changed]);
}
