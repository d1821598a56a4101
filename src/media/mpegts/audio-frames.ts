/** A frame of an elementary stream, found by its header. */
export interface AudioFrame {
  readonly bytes: number;
  /** Bytes before the data that a sample holds. */
  readonly headerBytes: number;
  readonly seconds: number;
  /** AudioSpecificConfig of AAC. */
  readonly config: Buffer | undefined;
}

/** Undefined where no usable frame begins. At least {@link minHeaderBytes} follow `at`. */
export type ReadAudioFrame = (bytes: Buffer, at: number) => AudioFrame | undefined;

export const minHeaderBytes = 9;

const AAC_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];

/** ISO/IEC 14496-3:2019, 1.A.2.2. Frames with several raw data blocks have no form in other containers. */
export function readAdtsFrame(bytes: Buffer, at: number): AudioFrame | undefined {
  if (bytes[at] !== 0xff || (bytes[at + 1]! & 0xf6) !== 0xf0) return undefined;
  const headerBytes = (bytes[at + 1]! & 1) === 1 ? 7 : 9;
  const objectType = (bytes[at + 2]! >> 6) + 1;
  const rateIndex = (bytes[at + 2]! >> 2) & 0x0f;
  const channels = ((bytes[at + 2]! & 1) << 2) | (bytes[at + 3]! >> 6);
  const length = ((bytes[at + 3]! & 3) << 11) | (bytes[at + 4]! << 3) | (bytes[at + 5]! >> 5);
  const blocks = (bytes[at + 6]! & 3) + 1;
  const rate = AAC_RATES[rateIndex];
  if (rate === undefined || length <= headerBytes || blocks !== 1) return undefined;
  const config = Buffer.from([
    (objectType << 3) | (rateIndex >> 1),
    ((rateIndex & 1) << 7) | (channels << 3),
  ]);
  return { bytes: length, headerBytes, seconds: 1024 / rate, config };
}

const MPEG_RATES = [44_100, 48_000, 32_000];
/** Bitrates in kbit/s, by index. ISO/IEC 11172-3, 2.4.2.3; ISO/IEC 13818-3, 2.4.2.3. */
const LAYER_2_BITRATES = [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384];
const LAYER_3_BITRATES = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const LOW_RATE_BITRATES = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];

/** MP2 and MP3. ISO/IEC 11172-3, 2.4.1.3. */
export function readMpegAudioFrame(bytes: Buffer, at: number): AudioFrame | undefined {
  const second = bytes[at + 1]!;
  const third = bytes[at + 2]!;
  if (bytes[at] !== 0xff || (second & 0xe0) !== 0xe0) return undefined;
  const version = (second >> 3) & 3; // 3 is MPEG-1, 2 is MPEG-2, 0 is MPEG-2.5
  const layer = 4 - ((second >> 1) & 3);
  const baseRate = MPEG_RATES[(third >> 2) & 3];
  if (version === 1 || (layer !== 2 && layer !== 3) || baseRate === undefined) return undefined;
  const isLowRate = version !== 3;
  const bitrates = isLowRate ? LOW_RATE_BITRATES : layer === 2 ? LAYER_2_BITRATES : LAYER_3_BITRATES;
  const bitrate = bitrates[third >> 4] ?? 0;
  if (bitrate === 0) return undefined;
  const rate = baseRate / (version === 3 ? 1 : version === 2 ? 2 : 4);
  const samples = layer === 3 && isLowRate ? 576 : 1152;
  const length = Math.floor((samples * bitrate * 125) / rate) + ((third >> 1) & 1);
  return { bytes: length, headerBytes: 0, seconds: samples / rate, config: undefined };
}

const AC3_RATES = [48_000, 44_100, 32_000];
/** Bitrates in kbit/s, by frmsizecod / 2. ETSI TS 102 366 V1.4.1, table F.1. */
const AC3_BITRATES = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640];
const AC3_FRAME_SAMPLES = 1536;
const LAST_AC3_BSID = 10;
const LAST_EAC3_BSID = 16;

/** ETSI TS 102 366 V1.4.1, 4.3. */
export function readAc3Frame(bytes: Buffer, at: number): AudioFrame | undefined {
  if (bytes.readUInt16BE(at) !== 0x0b77 || bytes[at + 5]! >> 3 > LAST_AC3_BSID) return undefined;
  const rate = AC3_RATES[bytes[at + 4]! >> 6];
  const sizeCode = bytes[at + 4]! & 0x3f;
  const bitrate = AC3_BITRATES[sizeCode >> 1];
  if (rate === undefined || bitrate === undefined) return undefined;
  const words = Math.floor((AC3_FRAME_SAMPLES * bitrate * 125) / rate / 2);
  // Frames at 44.1 kHz alternate between two sizes.
  const length = 2 * (words + (rate === 44_100 ? sizeCode & 1 : 0));
  return { bytes: length, headerBytes: 0, seconds: AC3_FRAME_SAMPLES / rate, config: undefined };
}

const maxSubstreams = 8;

/** An independent substream with the dependent ones that follow it. ETSI TS 102 366 V1.4.1, E.1.2. */
export function readEac3Frame(bytes: Buffer, at: number): AudioFrame | undefined {
  const first = readEac3Substream(bytes, at);
  if (first === undefined || first.isDependent) return undefined;
  let length = first.bytes;
  for (let substreams = 1; substreams < maxSubstreams; substreams++) {
    if (at + length + minHeaderBytes > bytes.length) break;
    const next = readEac3Substream(bytes, at + length);
    if (next?.isDependent !== true) break;
    length += next.bytes;
  }
  return { bytes: length, headerBytes: 0, seconds: first.seconds, config: undefined };
}

function readEac3Substream(bytes: Buffer, at: number) {
  const bsid = bytes[at + 5]! >> 3;
  if (bytes.readUInt16BE(at) !== 0x0b77 || bsid <= LAST_AC3_BSID || bsid > LAST_EAC3_BSID) return undefined;
  const type = bytes[at + 2]! >> 6;
  const id = (bytes[at + 2]! >> 3) & 7;
  const length = 2 * (1 + (bytes.readUInt16BE(at + 2) & 0x07ff));
  const rateCode = bytes[at + 4]! >> 6;
  const nextCode = (bytes[at + 4]! >> 4) & 3;
  const rate = rateCode === 3 ? (AC3_RATES[nextCode] ?? 0) / 2 : AC3_RATES[rateCode]!;
  const blocks = rateCode === 3 ? 6 : [1, 2, 3, 6][nextCode]!;
  if (rate === 0 || type === 3 || length < minHeaderBytes) return undefined;
  return { bytes: length, seconds: (blocks * 256) / rate, isDependent: type === 1 || id > 0 };
}
