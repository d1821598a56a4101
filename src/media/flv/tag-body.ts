import {
  type AudioFourCc,
  type CodecConfig,
  compositionMs,
  isVideoFourCc,
  type MediaSample,
  type VideoFourCc,
} from '../samples/media-sample.ts';

const FRAME_TYPE_KEY = 1;
const FRAME_TYPE_INTER = 2;
const AVC = 7;
const PACKET_SEQUENCE_START = 0;
const PACKET_CODED_FRAMES = 1;
const EXTENDED_VIDEO = 0x80;
/** AAC or MP3, 44.1 kHz, 16 bits, stereo; AAC always says so. */
const AAC_FLAGS = 0xaf;
const MP3_FLAGS = 0x2f;
const EXTENDED_AUDIO = 0x90;

/** The tag body that the media came in, or a new one. */
export function tagBody(media: MediaSample | CodecConfig): Buffer {
  return media.tagBody ?? Buffer.concat(tagBodyPieces(media));
}

/** As {@link tagBody}, without a copy. */
export function tagBodyPieces(media: MediaSample | CodecConfig): Buffer[] {
  return media.tagBody === undefined ? [tagHeader(media), media.data] : [media.tagBody];
}

/**
 * Writes the header of a tag body: H.264, AAC and MP3 in their first form, which every receiver reads, others as Enhanced
 * RTMP, version 2.
 */
function tagHeader(media: MediaSample | CodecConfig): Buffer {
  const { fourCc, name } = media.codec;
  if (fourCc === undefined) throw new Error(`${name} has no FourCC`);
  const packetType = media.type === 'config' ? PACKET_SEQUENCE_START : PACKET_CODED_FRAMES;
  return isVideoFourCc(fourCc) ? videoHeader(fourCc, packetType, media) : audioHeader(fourCc, packetType);
}

function videoHeader(codec: VideoFourCc, packetType: number, media: MediaSample | CodecConfig): Buffer {
  const isKey = media.type === 'config' || media.isKeyframe;
  const frameType = isKey ? FRAME_TYPE_KEY : FRAME_TYPE_INTER;
  const offsetMs = media.type === 'config' ? 0 : compositionMs(media);
  if (codec === 'avc1') {
    const header = Buffer.from([(frameType << 4) | AVC, packetType, 0, 0, 0]);
    header.writeIntBE(offsetMs, 2, 3);
    return header;
  }
  const hasOffset = codec === 'hvc1' && packetType === PACKET_CODED_FRAMES;
  const header = Buffer.alloc(hasOffset ? 8 : 5);
  header[0] = EXTENDED_VIDEO | (frameType << 4) | packetType;
  header.write(codec, 1, 'latin1');
  if (hasOffset) header.writeIntBE(offsetMs, 5, 3);
  return header;
}

function audioHeader(codec: AudioFourCc, packetType: number): Buffer {
  if (codec === 'mp4a') return Buffer.from([AAC_FLAGS, packetType]);
  if (codec === '.mp3') return Buffer.from([MP3_FLAGS]);
  const header = Buffer.alloc(5);
  header[0] = EXTENDED_AUDIO | packetType;
  header.write(codec, 1, 'latin1');
  return header;
}
