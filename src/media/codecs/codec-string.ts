import { type FieldReader, malformed } from '../cmaf/box-reader.ts';
import { readChildBox, readSampleEntry, type SampleEntryFields } from '../cmaf/sample-entry.ts';
import { readAudioConfig } from './audio-config.ts';

const kindOfEntry: Readonly<Record<string, 'video' | 'audio'>> = {
  avc1: 'video',
  avc3: 'video',
  hvc1: 'video',
  hev1: 'video',
  av01: 'video',
  mp4a: 'audio',
  Opus: 'audio',
  fLaC: 'audio',
  'ac-3': 'audio',
  'ec-3': 'audio',
  '.mp3': 'audio',
};

/** MP3 has no sample entry of its own; HLS players know it by its MPEG-4 audio object type, 34. */
const MP3 = 'mp4a.40.34';

/** CODECS value. RFC 6381, 3.3; ISO/IEC 14496-15:2022, annex E; AV1 in ISOBMFF 1.2.0, section 5. */
export function codecStringOf(sampleEntry: Buffer): string {
  const type = sampleEntry.toString('latin1', 4, 8);
  const kind = kindOfEntry[type];
  if (kind === undefined) throw malformed(type, 'is not a sample entry that we know');
  const fields = readSampleEntry(sampleEntry, kind);
  switch (type) {
    case 'avc1':
    case 'avc3':
      return `${type}.${avcProfile(readChildBox(sampleEntry, fields, 'avcC'))}`;
    case 'hvc1':
    case 'hev1':
      return `${type}.${hevcProfile(readChildBox(sampleEntry, fields, 'hvcC'))}`;
    case 'av01':
      return `${type}.${av1Profile(readChildBox(sampleEntry, fields, 'av1C'))}`;
    case 'mp4a':
      return mp4aName(sampleEntry, fields);
    case 'Opus':
      // Browsers expect lower case here, unlike in the sample entry.
      readChildBox(sampleEntry, fields, 'dOps').skip(11);
      return 'opus';
    case 'fLaC':
      readChildBox(sampleEntry, fields, 'dfLa').skip(8);
      return 'fLaC';
    case 'ac-3':
      readChildBox(sampleEntry, fields, 'dac3').skip(3);
      return type;
    case 'ec-3':
      readChildBox(sampleEntry, fields, 'dec3').skip(5);
      return type;
    default:
      return MP3;
  }
}

function avcProfile(config: FieldReader): string {
  config.skip(1);
  return config.bytes(3).toString('hex');
}

/** `1.6.L93.B0`: profile, compatibility flags with their bits reversed, tier and level, constraint bytes. */
function hevcProfile(config: FieldReader): string {
  config.skip(1);
  const profile = config.u8();
  const space = ['', 'A', 'B', 'C'][profile >> 6];
  const compatibility = config.u32();
  const constraints = [...config.bytes(6)];
  const level = config.u8();
  let reversed = 0;
  for (let bit = 0; bit < 32; bit++) {
    if (((compatibility >>> bit) & 1) === 1) reversed += 2 ** (31 - bit);
  }
  while (constraints.at(-1) === 0) constraints.pop();
  return [
    `${space}${profile & 0x1f}`,
    upperHex(reversed),
    `${(profile & 0x20) === 0 ? 'L' : 'H'}${level}`,
    ...constraints.map(upperHex),
  ].join('.');
}

function av1Profile(config: FieldReader): string {
  config.skip(1);
  const profileAndLevel = config.u8();
  const flags = config.u8();
  const profile = profileAndLevel >> 5;
  const level = String(profileAndLevel & 0x1f).padStart(2, '0');
  const isHighBitDepth = (flags & 0x40) !== 0;
  const isTwelveBit = profile === 2 && isHighBitDepth && (flags & 0x20) !== 0;
  const bitDepth = isTwelveBit ? '12' : isHighBitDepth ? '10' : '08';
  return `${profile}.${level}${(flags & 0x80) === 0 ? 'M' : 'H'}.${bitDepth}`;
}

/** RFC 6381, 3.3. */
function mp4aName(sampleEntry: Buffer, fields: SampleEntryFields): string {
  const { objectTypeIndication, audioObjectType } = readAudioConfig(sampleEntry, fields);
  if (audioObjectType !== undefined) return `mp4a.40.${audioObjectType}`;
  // MPEG-2 and MPEG-1 layers 1 to 3.
  if (objectTypeIndication === 0x69 || objectTypeIndication === 0x6b) return MP3;
  return `mp4a.${upperHex(objectTypeIndication).padStart(2, '0')}`;
}

function upperHex(value: number): string {
  return value.toString(16).toUpperCase();
}
