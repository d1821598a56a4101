import { describeTrack, type TrackDescription } from '../../media/cmaf/movie-box.ts';
import { writeAacSampleEntry, writeVideoSampleEntry } from '../../media/cmaf/sample-entry-writer.ts';
import { readAudioSpecificConfig } from '../../media/codecs/audio-specific-config.ts';
import {
  readVideoConfig,
  readVideoParameters,
  type VideoSampleEntryType,
} from '../../media/codecs/frame-sizes.ts';
import { videoHeaderBytes } from '../../media/flv/flv-tag.ts';
import { AppError } from '../../shared/errors.ts';

export interface VideoHeader {
  readonly codec: VideoSampleEntryType;
  /** Body of the configuration box. */
  readonly record: Buffer;
  /** Of the length before each NAL unit. */
  readonly lengthBytes: number;
}

interface DescribedTrack {
  readonly track: TrackDescription;
  readonly frameSeconds: number;
}

export type AacConfig = DescribedTrack;

/** Common frame rates last a whole number of ticks. */
const videoTimescale = 90_000;
/** Far more than all parameter sets need. */
const maxRecordBytes = 64 * 1024;

/** @param body of a sequence header tag @throws AppError `media-malformed` */
export function readVideoHeader(body: Buffer): VideoHeader {
  const isEnhanced = (body[0]! & 0x80) !== 0;
  const codec = isEnhanced ? body.toString('latin1', 1, 5) : 'avc1';
  if (codec !== 'avc1' && codec !== 'hvc1' && codec !== 'av01') {
    throw new AppError('media-malformed', `the configuration is of ${JSON.stringify(codec)} video`);
  }
  // A copy: descriptions live as long as the broadcast and would retain the message.
  const record = Buffer.from(body.subarray(videoHeaderBytes(body)));
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
): { readonly track: TrackDescription; readonly frameSeconds: number | undefined } {
  const parameters =
    readVideoParameters(codec, codec === 'av01' ? record.subarray(4) : record) ??
    (codec === 'av01' ? readVideoParameters(codec, keyframe) : undefined);
  if (parameters === undefined) {
    throw new AppError('media-malformed', 'the video configuration has no readable sequence parameter set');
  }
  // Becomes `hvc1` when the record is complete.
  const entry = writeVideoSampleEntry(codec === 'hvc1' ? 'hev1' : codec, record, parameters);
  return { track: describe('video', videoTimescale, entry), frameSeconds: parameters.frameSeconds };
}

/** @param config the AudioSpecificConfig @throws AppError `media-malformed` */
export function describeAac(config: Buffer): AacConfig {
  const { sampleRate, channels, samplesPerFrame } = readAudioSpecificConfig(config);
  const entry = writeAacSampleEntry(Buffer.from(config), sampleRate, channels ?? 2);
  return { track: describe('audio', sampleRate, entry), frameSeconds: samplesPerFrame / sampleRate };
}

function describe(kind: 'video' | 'audio', timescale: number, entry: Buffer): TrackDescription {
  const type = entry.toString('latin1', 4, 8);
  return describeTrack(1, kind, timescale, entry, { type, start: 0, bodyStart: 8, end: entry.length });
}
