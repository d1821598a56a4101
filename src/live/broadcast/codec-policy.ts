import type { TagCodec } from '../../media/flv/flv-tag.ts';

/** What becomes of a track: taken as it is, encoded to AAC, or refused with a sentence for the broadcaster. */
export type CodecVerdict =
  | { readonly take: 'copy' | 'aac' }
  | { readonly take: 'refuse'; readonly description: string };

/** What the ffmpeg in use can read, of all that matters here. */
export interface CodecCapabilities {
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

/** HLS in fragmented MP4 carries H.264, HEVC and AV1 to the players that there are. */
export function judgeVideoCodec(codec: TagCodec, abilities: CodecCapabilities): CodecVerdict {
  const isCarried = codec.isEnhanced ? ['H.264', 'HEVC', 'AV1'].includes(codec.name) : codec.name === 'H.264';
  if (!isCarried) {
    return refuse(`${codec.name} video cannot be delivered over HLS. Choose H.264 in the encoder.`);
  }
  if (codec.isEnhanced && !abilities.canReadEnhancedFlv) {
    return refuse(
      `${codec.name} over enhanced RTMP needs ffmpeg 6.1 or newer on the server. Choose H.264 in the encoder.`,
    );
  }
  return { take: 'copy' };
}

/** AAC is carried as it is; the other kinds that encoders send are turned into AAC. */
export function judgeAudioCodec(codec: TagCodec): CodecVerdict {
  if (codec.isEnhanced)
    return refuse(`${codec.name} audio over enhanced RTMP is not supported. Choose AAC in the encoder.`);
  if (codec.name === 'AAC') return { take: 'copy' };
  if (transcodedAudioCodecs.has(codec.name)) return { take: 'aac' };
  return refuse(`${codec.name} is not supported. Choose AAC in the encoder.`);
}

function refuse(description: string): CodecVerdict {
  return { take: 'refuse', description };
}
