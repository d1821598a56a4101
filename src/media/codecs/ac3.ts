import { u8 } from '../cmaf/box-writer.ts';
import { BitReader } from './bit-reader.ts';

interface Ac3Config {
  readonly type: 'ac-3' | 'ec-3';
  readonly sampleRate: number;
  readonly channels: number;
  /** Samples of all blocks of an access unit. */
  readonly frameSamples: number;
  /** Body of `dac3` or `dec3`. */
  readonly record: Buffer;
}

interface SyncFrame {
  readonly isEnhanced: boolean;
  readonly isDependent: boolean;
  readonly sizeBytes: number;
  readonly sampleRate: number;
  readonly samples: number;
  /** Codes of the bit stream: sample rate, identification, mode, channels, low frequencies, bit rate. */
  readonly fscod: number;
  readonly bsid: number;
  readonly bsmod: number;
  readonly acmod: number;
  readonly lfeon: number;
  readonly bitRateCode: number;
  /** Dependent substreams: the channels that they add. */
  readonly channelMap: number | undefined;
}

const SYNC_WORD = 0x0b77;
/** Identifications above this are E-AC-3. ETSI TS 102 366, E.1.3.1.6. */
const MAX_AC3_BSID = 10;
const MAX_BSID = 16;
const DEPENDENT = 1;
const blockSamples = 256;
const sampleRates = [48_000, 44_100, 32_000];
const kilobits = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640];
const blocksByCode = [1, 2, 3, 6];
const channelsByMode = [2, 1, 2, 3, 3, 4, 4, 5];
/** Channels of each location, from the lowest bit. ETSI TS 102 366, F.6.2.13. */
const channelsByLocation = [2, 2, 1, 1, 2, 2, 2, 1, 1];
/** Maximum frames of an access unit: one independent and eight dependent substreams, each up to six times. */
const maxFrames = 54;

/** Reads the headers of an access unit. Undefined if it has none. ETSI TS 102 366 1.4.1, 4.3, E.1.2 and F. */
export function readAc3(unit: Buffer): Ac3Config | undefined {
  const frames = readFrames(unit);
  const first = frames[0];
  if (first === undefined || first.isDependent) return undefined;
  const dependent = frames.filter(({ isDependent }) => isDependent);
  const frameSamples = frames.reduce((sum, { isDependent, samples }) => sum + (isDependent ? 0 : samples), 0);
  const locations = dependent.reduce((all, { channelMap = 0 }) => all | ((channelMap >> 5) & 0x1f), 0);
  const added = channelsByLocation.reduce((sum, count, bit) => sum + ((locations >> bit) & 1) * count, 0);
  return {
    type: first.isEnhanced ? 'ec-3' : 'ac-3',
    sampleRate: first.sampleRate,
    channels: channelsByMode[first.acmod]! + first.lfeon + added,
    frameSamples,
    record: first.isEnhanced
      ? enhancedRecord(
          first,
          (unit.length * 8 * first.sampleRate) / frameSamples,
          dependent.length,
          locations,
        )
      : record(first),
  };
}

function readFrames(unit: Buffer): SyncFrame[] {
  const frames: SyncFrame[] = [];
  for (let at = 0; at < unit.length && frames.length < maxFrames; ) {
    const frame = readFrame(unit.subarray(at));
    if (frame === undefined) break;
    frames.push(frame);
    at += frame.sizeBytes;
  }
  return frames;
}

function readFrame(bytes: Buffer): SyncFrame | undefined {
  if (bytes.length < 8 || bytes.readUInt16BE(0) !== SYNC_WORD) return undefined;
  const bsid = bytes[5]! >> 3;
  if (bsid > MAX_BSID) return undefined;
  return bsid > MAX_AC3_BSID ? readEnhancedFrame(bytes, bsid) : readPlainFrame(bytes, bsid);
}

/** ETSI TS 102 366, 4.3.1 and 4.3.2. */
function readPlainFrame(bytes: Buffer, bsid: number): SyncFrame | undefined {
  const bits = new BitReader(bytes.subarray(4));
  const [fscod, sizeCode] = [bits.bits(2), bits.bits(6)];
  bits.skip(5);
  const [bsmod, acmod] = [bits.bits(3), bits.bits(3)];
  if ((acmod & 1) !== 0 && acmod !== 1) bits.skip(2);
  if ((acmod & 4) !== 0) bits.skip(2);
  if (acmod === 2) bits.skip(2);
  const sampleRate = sampleRates[fscod];
  const rate = kilobits[sizeCode >> 1];
  if (sampleRate === undefined || rate === undefined) return undefined;
  const words = Math.floor((rate * 96_000) / sampleRate) + (fscod === 1 ? sizeCode & 1 : 0);
  return {
    isEnhanced: false,
    isDependent: false,
    sizeBytes: 2 * words,
    sampleRate,
    samples: 6 * blockSamples,
    fscod,
    bsid,
    bsmod,
    acmod,
    lfeon: bits.bits(1),
    bitRateCode: sizeCode >> 1,
    channelMap: undefined,
  };
}

/** ETSI TS 102 366, E.1.2.1 and E.1.2.2. */
function readEnhancedFrame(bytes: Buffer, bsid: number): SyncFrame | undefined {
  const bits = new BitReader(bytes.subarray(2));
  const streamType = bits.bits(2);
  const substream = bits.bits(3);
  const sizeBytes = 2 * (bits.bits(11) + 1);
  const fscod = bits.bits(2);
  const code = bits.bits(2);
  const sampleRate = fscod === 3 ? (sampleRates[code] ?? 0) / 2 : sampleRates[fscod]!;
  const blocks = fscod === 3 ? 6 : blocksByCode[code]!;
  const [acmod, lfeon] = [bits.bits(3), bits.bits(1)];
  if (sampleRate === 0 || streamType === 3) return undefined;
  bits.skip(5);
  // Dialogue normalization and compression, once per channel of dual mono.
  for (let program = 0; program < (acmod === 0 ? 2 : 1); program++) {
    bits.skip(5);
    if (bits.flag()) bits.skip(8);
  }
  const isDependent = streamType === DEPENDENT;
  const channelMap = isDependent && bits.flag() ? bits.bits(16) : undefined;
  return {
    isEnhanced: true,
    isDependent,
    sizeBytes,
    sampleRate,
    // Counts one program: others play at the same time.
    samples: substream === 0 || isDependent ? blocks * blockSamples : 0,
    fscod,
    bsid,
    bsmod: 0,
    acmod,
    lfeon,
    bitRateCode: 0,
    channelMap,
  };
}

/** ETSI TS 102 366, F.4. */
function record({ fscod, bsid, bsmod, acmod, lfeon, bitRateCode }: SyncFrame): Buffer {
  const bits =
    (fscod << 22) | (bsid << 17) | (bsmod << 14) | (acmod << 11) | (lfeon << 10) | (bitRateCode << 5);
  return u8(bits >> 16, (bits >> 8) & 0xff, bits & 0xff);
}

/** ETSI TS 102 366, F.6. One independent substream. */
function enhancedRecord(
  { fscod, bsid, bsmod, acmod, lfeon }: SyncFrame,
  bitsPerSecond: number,
  dependent: number,
  locations: number,
): Buffer {
  const rate = Math.min(Math.round(bitsPerSecond / 1000), 0x1fff);
  const head = u8(rate >> 5, (rate & 0x1f) << 3);
  const stream = [(fscod << 6) | (bsid << 1), (bsmod << 4) | (acmod << 1) | lfeon];
  const count = Math.min(dependent, 15) << 1;
  const tail = dependent === 0 ? [count] : [count | (locations >> 8), locations & 0xff];
  return Buffer.concat([head, u8(...stream, ...tail)]);
}
