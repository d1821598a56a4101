import { readAudioSpecificConfig } from '../codecs/audio-specific-config.ts';
import { readVideoParameters, type VideoSampleEntryType } from '../codecs/frame-sizes.ts';
import type { TrackKind } from '../samples/media-sample.ts';
import { describeAudioTag, describeVideoTag, videoHeaderBytes } from './flv-tag.ts';

type Metadata = Map<string, number | boolean | string>;

const sampleEntries: Readonly<Record<string, VideoSampleEntryType>> = {
  'H.264': 'avc1',
  HEVC: 'hvc1',
  AV1: 'av01',
};
/** Size of the AV1 configuration before its units (AV1 in ISOBMFF, 2.3.3). */
const av1RecordBytes = 4;
const aacHeaderBytes = 2;

/** Properties of `onMetaData` (FLV specification 10.1, E.5). @param first a sequence header, or a frame where the codec has none */
export function streamMetadata(first: { readonly [Kind in TrackKind]?: Buffer | undefined }): Metadata {
  const metadata: Metadata = new Map<string, number | boolean | string>([['duration', 0]]);
  for (const [kind, add] of [
    ['video', addVideo],
    ['audio', addAudio],
  ] as const) {
    try {
      if (first[kind] !== undefined) add(metadata, first[kind]);
    } catch {
      // Servers read the configuration itself.
    }
  }
  return metadata.set('encoder', 'Millrace');
}

function addVideo(metadata: Metadata, body: Buffer): void {
  const codec = describeVideoTag(body)?.codec;
  if (codec === undefined) return;
  metadata.set('videocodecid', codec.isEnhanced ? body.readUInt32BE(1) : body[0]! & 0x0f);
  const sampleEntry = sampleEntries[codec.name];
  if (sampleEntry === undefined) return;
  const start = videoHeaderBytes(body) + (sampleEntry === 'av01' ? av1RecordBytes : 0);
  const parameters = readVideoParameters(sampleEntry, body.subarray(start));
  if (parameters === undefined) return;
  const { size, frameSeconds } = parameters;
  metadata.set('width', size.width).set('height', size.height);
  if (frameSeconds !== undefined) metadata.set('framerate', Math.round(1000 / frameSeconds) / 1000);
}

function addAudio(metadata: Metadata, body: Buffer): void {
  const codec = describeAudioTag(body)?.codec;
  if (codec === undefined) return;
  metadata.set('audiocodecid', codec.isEnhanced ? body.readUInt32BE(1) : body[0]! >> 4);
  if (codec.name !== 'AAC' || codec.isEnhanced) return;
  const { sampleRate, channels } = readAudioSpecificConfig(body.subarray(aacHeaderBytes));
  metadata.set('audiosamplerate', sampleRate).set('stereo', channels !== 1);
}
