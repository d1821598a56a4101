import { type FieldReader, malformed } from '../cmaf/box-reader.ts';
import { readChildBox, type SampleEntryFields } from '../cmaf/sample-entry.ts';
import { BitReader } from './bit-reader.ts';

/** ISO/IEC 14496-1:2010, table 5. */
const MPEG4_AUDIO = 0x40;

interface AudioConfig {
  /** 0x40 is MPEG-4 audio; 0x69 and 0x6b are MP3. */
  readonly objectTypeIndication: number;
  /** MPEG-4 audio: 2 is AAC-LC, 5 is HE-AAC. */
  readonly audioObjectType?: number;
  /** Undefined for channel configurations that are defined in-band. */
  readonly channels?: number;
  readonly audioSpecificConfig?: Buffer;
}

/** ISO/IEC 14496-1:2010, 7.2.6.5 and 7.2.6.6; ISO/IEC 14496-3:2019, 1.6.2.1. */
export function readAudioConfig(sampleEntry: Buffer, fields: SampleEntryFields): AudioConfig {
  const esds = readChildBox(sampleEntry, fields, 'esds');
  esds.skip(4);
  enterDescriptor(esds, 0x03);
  esds.skip(2);
  const flags = esds.u8();
  if ((flags & 0x80) !== 0) esds.skip(2);
  if ((flags & 0x40) !== 0) esds.skip(esds.u8());
  if ((flags & 0x20) !== 0) esds.skip(2);
  enterDescriptor(esds, 0x04);
  const objectTypeIndication = esds.u8();
  if (objectTypeIndication !== MPEG4_AUDIO) return { objectTypeIndication };
  esds.skip(12);
  const audioSpecificConfig = esds.bytes(enterDescriptor(esds, 0x05));
  const config = new BitReader(audioSpecificConfig);
  const short = config.bits(5);
  const audioObjectType = short === 31 ? 32 + config.bits(6) : short;
  if (audioObjectType === 0 || config.isExhausted) throw malformed('esds', 'no audio object type');
  const frequencyIndex = config.bits(4);
  if (frequencyIndex === 15) config.skip(24);
  const configuration = config.bits(4);
  // 7 is 7.1; 0 and values above 7 are defined elsewhere in the stream.
  const channels = configuration === 7 ? 8 : configuration;
  const isUsual = configuration >= 1 && configuration <= 7 && !config.isExhausted;
  return {
    objectTypeIndication,
    audioObjectType,
    audioSpecificConfig,
    ...(isUsual ? { channels } : {}),
  };
}

function enterDescriptor(esds: FieldReader, tag: number): number {
  const found = esds.u8();
  if (found !== tag) throw malformed('esds', `descriptor ${found} where ${tag} belongs`);
  let bytes = 0;
  for (let digits = 0; digits < 4; digits++) {
    const byte = esds.u8();
    bytes = bytes * 128 + (byte & 0x7f);
    if (byte < 0x80) break;
  }
  return bytes;
}
