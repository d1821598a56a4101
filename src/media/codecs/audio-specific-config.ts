import { AppError } from '../../shared/errors.ts';
import { BitReader } from './bit-reader.ts';

/** ISO/IEC 14496-3:2019, 1.6.2.1. */
interface AudioSpecificConfig {
  /** 2 is AAC-LC, 5 is HE-AAC, 29 is HE-AAC v2. */
  readonly objectType: number;
  /** Sample rate of the decoded audio, which spectral band replication doubles. */
  readonly sampleRate: number;
  /** Undefined for channel configurations that are defined in-band. */
  readonly channels: number | undefined;
  /** Samples of a frame at `sampleRate`. */
  readonly samplesPerFrame: number;
}

const SAMPLE_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];
const SPECTRAL_BAND_REPLICATION = 5;
const PARAMETRIC_STEREO = 29;
const LOW_DELAY_TYPES = [23, 39];
const SYNC_EXTENSION = 0x2b7;

/** @throws AppError `media-malformed` */
export function readAudioSpecificConfig(bytes: Buffer): AudioSpecificConfig {
  const bits = new BitReader(bytes);
  const objectType = readObjectType(bits);
  const coreRate = readSampleRate(bits);
  const configuration = bits.bits(4);
  let coreType = objectType;
  let sampleRate: number | undefined;
  if (objectType === SPECTRAL_BAND_REPLICATION || objectType === PARAMETRIC_STEREO) {
    sampleRate = readSampleRate(bits);
    coreType = readObjectType(bits);
  }
  const isShort = bits.flag();
  if (objectType === 0 || coreRate === undefined || bits.isExhausted) {
    throw new AppError('media-malformed', 'the AAC configuration is truncated or reserved');
  }
  if (bits.flag()) bits.skip(14);
  bits.skip(1);
  sampleRate ??= readSyncExtension(bits);
  if (sampleRate !== 2 * coreRate) sampleRate = coreRate;
  const longSamples = LOW_DELAY_TYPES.includes(coreType) ? 512 : 1024;
  const coreSamples = isShort ? longSamples - longSamples / 16 : longSamples;
  return {
    objectType,
    sampleRate,
    channels: configuration === 7 ? 8 : configuration >= 1 && configuration < 7 ? configuration : undefined,
    samplesPerFrame: Math.round((coreSamples * sampleRate) / coreRate),
  };
}

/** Backward compatible signalling of spectral band replication. ISO/IEC 14496-3:2019, 1.6.5. */
function readSyncExtension(bits: BitReader): number | undefined {
  if (bits.bits(11) !== SYNC_EXTENSION) return undefined;
  if (readObjectType(bits) !== SPECTRAL_BAND_REPLICATION || !bits.flag()) return undefined;
  const sampleRate = readSampleRate(bits);
  return bits.isExhausted ? undefined : sampleRate;
}

function readObjectType(bits: BitReader): number {
  const short = bits.bits(5);
  return short === 31 ? 32 + bits.bits(6) : short;
}

function readSampleRate(bits: BitReader): number | undefined {
  const index = bits.bits(4);
  const sampleRate = index === 15 ? bits.bits(24) : SAMPLE_RATES[index];
  return sampleRate === 0 ? undefined : sampleRate;
}
