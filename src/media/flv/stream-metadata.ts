import { BitReader } from '../codecs/bit-reader.ts';
import { describeAudioTag, describeVideoTag, type TrackKind } from './flv-tag.ts';

/** ISO/IEC 14496-3:2019, table 1.18. */
const sampleRates = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];
const aacHeaderBytes = 2;

/** Properties of `onMetaData` (FLV specification 10.1, E.5). @param first a sequence header, or a frame where the codec has none */
export function streamMetadata(
  first: Readonly<Partial<Record<TrackKind, Buffer>>>,
): Map<string, number | boolean | string> {
  const properties = new Map<string, number | boolean | string>([['duration', 0]]);
  if (first.video !== undefined) addVideo(properties, first.video);
  if (first.audio !== undefined) addAudio(properties, first.audio);
  return properties.set('encoder', 'Millrace');
}

function addVideo(properties: Map<string, number | boolean | string>, body: Buffer): void {
  const codec = describeVideoTag(body)?.codec;
  if (codec === undefined) return;
  properties.set('videocodecid', codec.isEnhanced ? body.readUInt32BE(1) : body[0]! & 0x0f);
}

function addAudio(properties: Map<string, number | boolean | string>, body: Buffer): void {
  const codec = describeAudioTag(body)?.codec;
  if (codec === undefined) return;
  properties.set('audiocodecid', codec.isEnhanced ? body.readUInt32BE(1) : body[0]! >> 4);
  if (codec.name !== 'AAC' || codec.isEnhanced) return;
  const config = new BitReader(body.subarray(aacHeaderBytes));
  config.skip(5);
  const sampleRate = sampleRates[config.bits(4)];
  if (sampleRate === undefined) return;
  properties.set('audiosamplerate', sampleRate).set('stereo', config.bits(4) > 1);
}
