import type { AudioFourCc } from '../samples/media-sample.ts';
import { opusHead } from './opus-units.ts';

/** MP2 is called `.mp3`, too: whatever decodes MP3 decodes it. */
type TsCodec = 'avc1' | 'hvc1' | Exclude<AudioFourCc, 'fLaC'>;

export interface ElementaryStream {
  readonly pid: number;
  readonly kind: 'video' | 'audio';
  readonly codec: TsCodec;
  /** ISO 639-2 code. */
  readonly language: string | undefined;
  /** Configuration of Opus. */
  readonly config: Buffer | undefined;
}

export interface UnsupportedStream {
  readonly kind: 'video' | 'audio';
  /** Common name of the codec. */
  readonly name: string;
}

export interface ProgramMap {
  readonly number: number;
  readonly streams: readonly ElementaryStream[];
  readonly unsupported: readonly UnsupportedStream[];
}

const PROGRAM_ASSOCIATION = 0;
const PROGRAM_MAP = 2;
const CRC_BYTES = 4;
/** The first stream type that says nothing of its own. */
const PRIVATE_DATA = 0x06;

/** ISO/IEC 13818-1:2019, table 2-34; ATSC A/53 part 3, 6.7.1. */
const streamTypes: Readonly<Record<number, readonly ['video' | 'audio', TsCodec]>> = {
  3: ['audio', '.mp3'],
  4: ['audio', '.mp3'],
  15: ['audio', 'mp4a'],
  27: ['video', 'avc1'],
  36: ['video', 'hvc1'],
  129: ['audio', 'ac-3'],
  135: ['audio', 'ec-3'],
};
const unsupportedTypes: Readonly<Record<number, readonly ['video' | 'audio', string]>> = {
  1: ['video', 'MPEG-1'],
  2: ['video', 'MPEG-2'],
  16: ['video', 'MPEG-4 part 2'],
  33: ['video', 'JPEG 2000'],
  51: ['video', 'VVC'],
  66: ['video', 'AVS'],
  209: ['video', 'Dirac'],
  234: ['video', 'VC-1'],
  17: ['audio', 'AAC in LATM'],
  28: ['audio', 'AAC without ADTS'],
  128: ['audio', 'LPCM'],
  130: ['audio', 'DTS'],
  133: ['audio', 'DTS'],
  134: ['audio', 'DTS'],
};
/** Registrations of private data. SMPTE RA; ETSI TS 101 154, annex C. */
const registrations: Readonly<Record<string, TsCodec>> = {
  'AC-3': 'ac-3',
  EAC3: 'ec-3',
  Opus: 'Opus',
  HEVC: 'hvc1',
};
const unsupportedRegistrations: Readonly<Record<string, readonly ['video' | 'audio', string]>> = {
  AV01: ['video', 'AV1'],
  BSSD: ['audio', 'SMPTE 302M'],
  DTS1: ['audio', 'DTS'],
  DTS2: ['audio', 'DTS'],
  DTS3: ['audio', 'DTS'],
};
/** Splice information that is registered, DTS otherwise. ANSI/SCTE 35, 8.1. */
const SCTE_35_OR_DTS = 0x86;
const SCTE_35 = 'CUEI';
/** Descriptor tags. ISO/IEC 13818-1:2019, table 2-45; ETSI EN 300 468, table 12. */
const REGISTRATION = 0x05;
const LANGUAGE = 0x0a;
const DVB_AC3 = 0x6a;
const DVB_EAC3 = 0x7a;
const DVB_DTS = 0x7b;
const EXTENSION = 0x7f;
/** ANSI/SCTE 35, 8.2. */
const CUE_IDENTIFIER = 0x8a;
/** Tag within an extension descriptor that ffmpeg and GStreamer use for the channels of Opus. */
const OPUS_EXTENSION = 0x80;

/** Lists the PIDs of the program maps, in order; undefined for tables that do not apply. ISO/IEC 13818-1:2019, 2.4.4.3. */
export function readProgramAssociation(section: Buffer): number[] | undefined {
  if (!isCurrent(section, PROGRAM_ASSOCIATION, 12)) return undefined;
  const pids: number[] = [];
  for (let at = 8; at + 4 <= section.length - CRC_BYTES; at += 4) {
    // 0 is the network information table.
    if (section.readUInt16BE(at) !== 0) pids.push(section.readUInt16BE(at + 2) & 0x1fff);
  }
  return pids;
}

/** Undefined for tables that do not apply. ISO/IEC 13818-1:2019, 2.4.4.8. */
export function readProgramMap(section: Buffer): ProgramMap | undefined {
  if (!isCurrent(section, PROGRAM_MAP, 16)) return undefined;
  const streams: ElementaryStream[] = [];
  const unsupported: UnsupportedStream[] = [];
  const end = section.length - CRC_BYTES;
  let at = 12 + (section.readUInt16BE(10) & 0x0fff);
  const programRegistration = registrationOf(readDescriptors(section.subarray(12, Math.min(at, end))));
  while (at + 5 <= end) {
    const type = section[at]!;
    const pid = section.readUInt16BE(at + 1) & 0x1fff;
    const next = at + 5 + (section.readUInt16BE(at + 3) & 0x0fff);
    if (next > end) break;
    const descriptors = readDescriptors(section.subarray(at + 5, next));
    const known = describeStream(type, descriptors);
    if (known !== undefined) {
      const [kind, codec] = known;
      const config = codec === 'Opus' ? opusHead(opusChannels(descriptors)) : undefined;
      streams.push({ pid, kind, codec, language: readLanguage(descriptors), config });
    } else {
      const named = describeUnsupported(type, descriptors, programRegistration);
      if (named !== undefined) unsupported.push({ kind: named[0], name: named[1] });
    }
    at = next;
  }
  return { number: section.readUInt16BE(3), streams, unsupported };
}

function isCurrent(section: Buffer, tableId: number, minBytes: number): boolean {
  return section.length >= minBytes && section[0] === tableId && (section[5]! & 1) === 1;
}

type Descriptors = readonly { readonly tag: number; readonly body: Buffer }[];

function readDescriptors(bytes: Buffer): Descriptors {
  const descriptors: { tag: number; body: Buffer }[] = [];
  for (let at = 0; at + 2 <= bytes.length; at += 2 + bytes[at + 1]!) {
    descriptors.push({ tag: bytes[at]!, body: bytes.subarray(at + 2, at + 2 + bytes[at + 1]!) });
  }
  return descriptors;
}

function describeStream(
  type: number,
  descriptors: Descriptors,
): readonly ['video' | 'audio', TsCodec] | undefined {
  if (type !== PRIVATE_DATA) return streamTypes[type];
  const codec = registrations[registrationOf(descriptors)];
  if (codec !== undefined) return [codec === 'hvc1' ? 'video' : 'audio', codec];
  if (descriptors.some(({ tag }) => tag === DVB_AC3)) return ['audio', 'ac-3'];
  if (descriptors.some(({ tag }) => tag === DVB_EAC3)) return ['audio', 'ec-3'];
  return undefined;
}

function describeUnsupported(
  type: number,
  descriptors: Descriptors,
  programRegistration: string,
): readonly ['video' | 'audio', string] | undefined {
  const registration = registrationOf(descriptors);
  const named = unsupportedRegistrations[registration];
  if (type === SCTE_35_OR_DTS && named === undefined) {
    const isRegistered = registration === SCTE_35 || programRegistration === SCTE_35;
    if (isRegistered || descriptors.some(({ tag }) => tag === CUE_IDENTIFIER)) return undefined;
  }
  if (type !== PRIVATE_DATA) return unsupportedTypes[type];
  if (named !== undefined) return named;
  return descriptors.some(({ tag }) => tag === DVB_DTS) ? ['audio', 'DTS'] : undefined;
}

function registrationOf(descriptors: Descriptors): string {
  const found = descriptors.find(({ tag, body }) => tag === REGISTRATION && body.length >= 4);
  return found?.body.toString('latin1', 0, 4) ?? '';
}

function readLanguage(descriptors: Descriptors): string | undefined {
  const found = descriptors.find(({ tag, body }) => tag === LANGUAGE && body.length >= 3);
  const code = found?.body.toString('latin1', 0, 3).toLowerCase();
  return code !== undefined && /^[a-z]{3}$/.test(code) && code !== 'und' ? code : undefined;
}

function opusChannels(descriptors: Descriptors): number {
  const found = descriptors.find(({ tag, body }) => tag === EXTENSION && body[0] === OPUS_EXTENSION);
  return found?.body[1] ?? 2;
}
