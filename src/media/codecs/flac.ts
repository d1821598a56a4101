import { AppError } from '../../shared/errors.ts';
import { u8 } from '../cmaf/box-writer.ts';
import { BitReader } from './bit-reader.ts';

interface FlacConfig {
  readonly sampleRate: number;
  readonly channels: number;
  readonly bitsPerSample: number;
  /** Samples of most frames. */
  readonly frameSamples: number;
  /** Body of `dfLa` after its version and flags. */
  readonly record: Buffer;
}

const STREAMINFO = 0;
const IS_LAST = 0x80;
const streamInfoBytes = 34;
const blockHeaderBytes = 4;
const minFrameHeaderBytes = 6;

/**
 * @param config STREAMINFO with or without its block header, with or without `fLaC` before it. RFC 9639, 8.2.
 * @throws AppError `media-malformed`
 */
export function readFlacConfig(config: Buffer): FlacConfig {
  const block = config.toString('latin1', 0, 4) === 'fLaC' ? config.subarray(4) : config;
  const hasHeader = block.length >= blockHeaderBytes + streamInfoBytes;
  const info = block.subarray(hasHeader ? blockHeaderBytes : 0).subarray(0, streamInfoBytes);
  const isStreamInfo = !hasHeader || (block[0]! & ~IS_LAST) === STREAMINFO;
  if (!isStreamInfo || info.length < streamInfoBytes) {
    throw new AppError('media-malformed', 'the FLAC configuration has no STREAMINFO');
  }
  const bits = new BitReader(info.subarray(10));
  const [sampleRate, channels, bitsPerSample] = [bits.bits(20), bits.bits(3) + 1, bits.bits(5) + 1];
  const frameSamples = info.readUInt16BE(2);
  if (sampleRate === 0 || frameSamples < 16 || bitsPerSample < 4) {
    throw new AppError('media-malformed', 'the FLAC configuration has a sample rate or block size of 0');
  }
  const record = Buffer.concat([u8(IS_LAST | STREAMINFO, 0, 0, streamInfoBytes), info]);
  return { sampleRate, channels, bitsPerSample, frameSamples, record };
}

/** Undefined for an invalid header. RFC 9639, 9.1. */
export function flacFrameSamples(frame: Buffer): number | undefined {
  if (frame.length < minFrameHeaderBytes || (frame.readUInt16BE(0) & 0xfffe) !== 0xfff8) return undefined;
  const code = frame[2]! >> 4;
  if (code === 0) return undefined;
  if (code === 1) return 192;
  if (code < 6) return 576 << (code - 2);
  if (code > 7) return 256 << (code - 8);
  const at = 4 + codedNumberBytes(frame[4]!);
  if (at + 2 > frame.length) return undefined;
  return code === 6 ? frame[at]! + 1 : frame.readUInt16BE(at) + 1;
}

/** Length of a number that is coded like UTF-8, with up to seven bytes. */
function codedNumberBytes(first: number): number {
  const ones = Math.clz32(~(first << 24));
  return Math.max(1, Math.min(ones, 7));
}
