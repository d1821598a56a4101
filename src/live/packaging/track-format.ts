import { box, fullBox } from '../../media/cmaf/box-writer.ts';
import { describeTrack, type TrackDescription } from '../../media/cmaf/movie-box.ts';
import {
  writeAacSampleEntry,
  writeAudioSampleEntry,
  writeVideoSampleEntry,
} from '../../media/cmaf/sample-entry-writer.ts';
import { readAc3 } from '../../media/codecs/ac3.ts';
import { readAudioSpecificConfig } from '../../media/codecs/audio-specific-config.ts';
import { flacFrameSamples, readFlacConfig } from '../../media/codecs/flac.ts';
import {
  readRecordParameters,
  readVideoConfig,
  readVideoParameters,
  type VideoSampleEntryType,
} from '../../media/codecs/frame-sizes.ts';
import { OPUS_SAMPLE_RATE, opusPacketSamples, readOpusHead, stereoOpus } from '../../media/codecs/opus.ts';
import type { VideoParameters } from '../../media/codecs/parameter-set.ts';
import type { ColorInfo } from '../../media/samples/color-info.ts';
import { type CodecConfig, isVideoFourCc } from '../../media/samples/media-sample.ts';
import { AppError } from '../../shared/errors.ts';

export interface VideoHeader {
  readonly codec: VideoSampleEntryType;
  /** Body of the configuration box. */
  readonly record: Buffer;
  /** Size of the length before each NAL unit. */
  readonly lengthBytes: number;
}

export interface AudioFormat {
  readonly track: TrackDescription;
  readonly frameSeconds: number;
  /** Returns the samples of one frame, where they differ; undefined for a frame that cannot be decoded. */
  readonly samplesOf?: (frame: Buffer) => number | undefined;
}

/** Common frame rates last a whole number of ticks. */
const videoTimescale = 90_000;
/** Profile 0, level 1, 8 bits. */
const VP8 = 'vp08.00.10.08';
/** The same, with 4:2:0 and without colours. */
const VP8_CONFIG = Buffer.from([1, 0, 0, 0, 0, 10, 0x82, 2, 2, 2, 0, 0]);
/** Far more than all parameter sets need. */
const maxRecordBytes = 64 * 1024;

/** @throws AppError `media-malformed` */
export function readVideoHeader({ codec: { name, fourCc: codec }, data }: CodecConfig): VideoHeader {
  if (!isVideoFourCc(codec)) {
    throw new AppError('media-malformed', `the configuration is of ${name} video`);
  }
  // A copy: descriptions live as long as the broadcast and would retain the message.
  const record = Buffer.from(data);
  if (record.length < 4 || record.length > maxRecordBytes) {
    throw new AppError('media-malformed', `the video configuration has ${record.length} bytes`);
  }
  if (codec === 'avc1' && record[0] !== 1) {
    throw new AppError('media-malformed', `the video configuration has version ${record[0]}`);
  }
  return { codec, record, lengthBytes: readVideoConfig(codec, record).lengthBytes };
}

/** @param keyframe has the sequence header that AV1 configurations may omit @throws AppError `media-malformed` */
export function describeVideo(
  { codec, record }: VideoHeader,
  keyframe: Buffer,
  color?: ColorInfo,
): { readonly track: TrackDescription; readonly frameSeconds: number | undefined } {
  const parameters =
    readRecordParameters(codec, record) ??
    (codec === 'av01' ? readVideoParameters(codec, keyframe) : undefined);
  if (parameters === undefined) {
    throw new AppError('media-malformed', 'the video configuration has no readable sequence parameter set');
  }
  if (codec === 'vp08') return { track: describeVp8(parameters), frameSeconds: undefined };
  // Becomes `hvc1` when the record is complete.
  const entry = writeVideoSampleEntry(codec === 'hvc1' ? 'hev1' : codec, record, parameters, color);
  return { track: describe('video', videoTimescale, entry), frameSeconds: parameters.frameSeconds };
}

/** Describes video that is only encoded: players get none of it. VP Codec ISO Media File Format Binding 1.0, section 4. */
function describeVp8(parameters: VideoParameters): TrackDescription {
  const sampleEntry = writeVideoSampleEntry('vp08', VP8_CONFIG, parameters);
  const { width, height } = parameters.size;
  return { id: 1, kind: 'video', timescale: videoTimescale, sampleEntry, codec: VP8, width, height };
}

/**
 * @param config which AC-3 and E-AC-3 do not have
 * @param frame needed where the configuration does not say everything
 * @returns undefined while one of them is missing
 * @throws AppError `media-malformed`
 */
export function describeAudio(
  codecName: string,
  config: Buffer | undefined,
  frame: Buffer | undefined,
): AudioFormat | undefined {
  switch (codecName) {
    case 'AAC':
      return config && describeAac(config);
    case 'Opus':
      return frame && describeOpus(config, frame);
    case 'FLAC':
      return config && describeFlac(config);
    default:
      return frame && describeAc3(frame);
  }
}

/** @param config the AudioSpecificConfig @throws AppError `media-malformed` */
export function describeAac(config: Buffer): AudioFormat {
  const { sampleRate, channels, samplesPerFrame } = readAudioSpecificConfig(config);
  const entry = writeAacSampleEntry(Buffer.from(config), sampleRate, channels ?? 2);
  return { track: describe('audio', sampleRate, entry), frameSeconds: samplesPerFrame / sampleRate };
}

function describeOpus(config: Buffer | undefined, frame: Buffer): AudioFormat {
  const sampleRate = OPUS_SAMPLE_RATE;
  const { channels, record } = config === undefined ? stereoOpus() : readOpusHead(config);
  const samples = opusPacketSamples(frame);
  if (samples === undefined)
    throw new AppError('media-malformed', 'the first Opus packet has no valid length');
  const entry = writeAudioSampleEntry('Opus', { sampleRate, channels }, box('dOps', record));
  const track = describe('audio', sampleRate, entry);
  return { track, frameSeconds: samples / sampleRate, samplesOf: opusPacketSamples };
}

function describeFlac(config: Buffer): AudioFormat {
  const { frameSamples, record, ...format } = readFlacConfig(config);
  const entry = writeAudioSampleEntry('fLaC', format, fullBox('dfLa', 0, 0, record));
  const track = describe('audio', format.sampleRate, entry);
  return { track, frameSeconds: frameSamples / format.sampleRate, samplesOf: flacFrameSamples };
}

function describeAc3(frame: Buffer): AudioFormat {
  const config = readAc3(frame);
  if (config === undefined) throw new AppError('media-malformed', 'the first AC-3 frame has no valid header');
  const { type, frameSamples, sampleRate, record } = config;
  const entry = writeAudioSampleEntry(type, config, box(type === 'ac-3' ? 'dac3' : 'dec3', record));
  const track = describe('audio', sampleRate, entry);
  return { track, frameSeconds: frameSamples / sampleRate, samplesOf: unit => readAc3(unit)?.frameSamples };
}

function describe(kind: 'video' | 'audio', timescale: number, entry: Buffer): TrackDescription {
  const type = entry.toString('latin1', 4, 8);
  return describeTrack(1, kind, timescale, entry, { type, start: 0, bodyStart: 8, end: entry.length });
}
