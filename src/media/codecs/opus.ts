import { AppError } from '../../shared/errors.ts';
import { u8, u16, u32 } from '../cmaf/box-writer.ts';

/** Decoders always put out this rate. */
export const OPUS_SAMPLE_RATE = 48_000;

interface OpusConfig {
  readonly channels: number;
  /** Body of `dOps`. */
  readonly record: Buffer;
}

const headBytes = 19;
const maxChannels = 8;
/** Pre-skip of libopus at 48 kHz. */
const usualPreSkip = 312;
/** RFC 6716, 3.1: samples of a frame, by the two low bits of the configuration. */
const silkSamples = [480, 960, 1920, 2880];
const celtSamples = [120, 240, 480, 960];
/** RFC 6716, 3.2.5. */
const maxPacketSamples = 5760;

/** @param head the identification header of RFC 7845, 5.1 @throws AppError `media-malformed` */
export function readOpusHead(head: Buffer): OpusConfig {
  const channels = head[9] ?? 0;
  if (head.length < headBytes || head.toString('latin1', 0, 8) !== 'OpusHead' || head[8]! >> 4 !== 0) {
    throw new AppError('media-malformed', 'the Opus configuration has no identification header');
  }
  const mappingFamily = head[18]!;
  const mappingBytes = mappingFamily === 0 ? 0 : 2 + channels;
  const isPossible = channels >= 1 && channels <= (mappingFamily === 0 ? 2 : maxChannels);
  if (!isPossible || head.length < headBytes + mappingBytes) {
    throw new AppError('media-malformed', `the Opus configuration has ${channels} channels`);
  }
  const [preSkip, inputRate, gain] = [head.readUInt16LE(10), head.readUInt32LE(12), head.readUInt16LE(16)];
  const mapping = head.subarray(headBytes, headBytes + mappingBytes);
  return { channels, record: opusRecord(channels, preSkip, inputRate, gain, mappingFamily, mapping) };
}

/** Decoders put out stereo whatever the packets hold. */
export function stereoOpus(): OpusConfig {
  return { channels: 2, record: opusRecord(2, usualPreSkip, OPUS_SAMPLE_RATE, 0, 0, Buffer.alloc(0)) };
}

/** Encapsulation of Opus in ISO Base Media File Format 0.8.3, 4.3.2. */
function opusRecord(
  channels: number,
  preSkip: number,
  inputRate: number,
  gain: number,
  mappingFamily: number,
  mapping: Buffer,
): Buffer {
  return Buffer.concat([
    u8(0, channels),
    u16(preSkip),
    u32(inputRate),
    u16(gain),
    u8(mappingFamily),
    mapping,
  ]);
}

/** Counts the samples of a packet at 48 kHz; undefined for an invalid packet. RFC 6716, 3.1. */
export function opusPacketSamples(packet: Buffer): number | undefined {
  const toc = packet[0];
  if (toc === undefined) return undefined;
  const config = toc >> 3;
  const frameSamples =
    config < 12
      ? silkSamples[config & 3]!
      : config < 16
        ? silkSamples[config & 1]!
        : celtSamples[config & 3]!;
  const code = toc & 3;
  const frames = code === 0 ? 1 : code < 3 ? 2 : (packet[1] ?? 0) & 0x3f;
  const samples = frames * frameSamples;
  return samples > 0 && samples <= maxPacketSamples ? samples : undefined;
}
