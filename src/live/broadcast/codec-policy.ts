import { type Codec, codecs, isVideoFourCc } from '../../media/samples/media-sample.ts';
import type { AudioTreatment } from '../packaging/packager.ts';

/** `description` is shown to the broadcaster. */
type CodecVerdict<Treatment> =
  | { readonly take: Treatment }
  | { readonly take: 'refuse'; readonly description: string };

export interface CodecCapabilities {
  readonly packager: 'auto' | 'direct' | 'ffmpeg';
  /** True when ffmpeg can read enhanced FLV. */
  readonly canReadEnhancedFlv: boolean;
}

const transcodedAudioCodecs: ReadonlySet<string> = new Set([
  'PCM',
  'ADPCM',
  'Nellymoser',
  // Browsers play MP3, but not inside MP4.
  'MP3',
  'G.711 A-law',
  'G.711 mu-law',
  'Speex',
]);
/** HLS carries them, but not every player decodes them. */
const passthroughAudioCodecs: ReadonlySet<string> = new Set(['Opus', 'AC-3', 'E-AC-3', 'FLAC']);

/** Accepts the codecs that players decode from fragmented MP4, which are H.264, HEVC and AV1, and those that are encoded for them. */
export function judgeVideoCodec(codec: Codec, capabilities: CodecCapabilities): CodecVerdict<'copy'> {
  if (!isVideoFourCc(codec.fourCc)) {
    return refuse(`${codec.name} video cannot be delivered over HLS. Choose H.264 in the encoder.`);
  }
  const { packager, canReadEnhancedFlv } = capabilities;
  if (mustEncode(codec) && packager === 'ffmpeg') {
    return refuse(
      `${codec.name} must be encoded for players, which a server that packages with ffmpeg does not do. Choose H.264 in the encoder, or set live.packager to auto on the server.`,
    );
  }
  if (codec !== codecs.avc1 && packager === 'ffmpeg' && !canReadEnhancedFlv) {
    return refuse(
      `${codec.name} over enhanced RTMP needs ffmpeg 6.1 or newer on a server that packages with ffmpeg. Choose H.264 in the encoder, or set live.packager to auto on the server.`,
    );
  }
  return { take: 'copy' };
}

/** Players cannot play it: they get what is encoded from it. */
export function mustEncode(codec: Codec): boolean {
  return codec === codecs.vp08;
}

export function judgeAudioCodec(
  codec: Codec,
  { packager }: Pick<CodecCapabilities, 'packager'>,
): CodecVerdict<AudioTreatment> {
  if (codec.name === 'AAC') return { take: 'copy' };
  if (passthroughAudioCodecs.has(codec.name)) {
    if (packager === 'ffmpeg') {
      return refuse(
        `The settings of this server do not allow ${codec.name} audio. Choose AAC in the encoder.`,
      );
    }
    return { take: packager === 'direct' ? 'copy' : 'both' };
  }
  if (!transcodedAudioCodecs.has(codec.name)) {
    return refuse(`${codec.name} is not supported. Choose AAC in the encoder.`);
  }
  if (packager === 'direct') {
    return refuse(
      `${codec.name} audio must be converted to AAC, and the settings of this server do not allow that. Choose AAC in the encoder.`,
    );
  }
  return { take: 'aac' };
}

function refuse(description: string): { readonly take: 'refuse'; readonly description: string } {
  return { take: 'refuse', description };
}
