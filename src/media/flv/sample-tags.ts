import type { TrackKind } from '../samples/media-sample.ts';
import type { FlvTag } from './flv-tag.ts';

/** FourCC of Enhanced RTMP. */
type VideoFourCc = 'avc1' | 'hvc1' | 'av01';
export type AudioFourCc = 'mp4a' | 'Opus' | 'ac-3' | 'ec-3' | 'fLaC' | '.mp3';

/** A coded frame, as every ingest protocol except RTMP produces it. */
export interface MediaSample {
  /** 0..2^32-1 after rounding down; may jump, run backwards and wrap. */
  readonly dtsMs: number;
  /** At least `dtsMs`, and 8,388 s more at most. Audio has none. */
  readonly ptsMs?: number;
  readonly isKeyframe?: boolean;
  /**
   * H.264 and HEVC: NAL units with 4-byte lengths. AV1: OBUs of a temporal unit. AAC: one frame without ADTS. Opus: one
   * packet. Not written to again.
   */
  readonly data: Buffer;
}

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
const maxTimestamp = 2 ** 32;

/**
 * Writes samples as tags: H.264, AAC and MP3 in their first form, which every ffmpeg reads, others as Enhanced RTMP,
 * version 2.
 */
export const sampleTags = {
  /** @param record body of avcC, hvcC or av1C */
  videoConfig(codec: VideoFourCc, record: Buffer, atMs: number): FlvTag {
    return tag('video', atMs, videoHeader(codec, FRAME_TYPE_KEY, PACKET_SEQUENCE_START, 0), record);
  },

  video(codec: VideoFourCc, { dtsMs, ptsMs = dtsMs, isKeyframe, data }: MediaSample): FlvTag {
    const frameType = isKeyframe === true ? FRAME_TYPE_KEY : FRAME_TYPE_INTER;
    const offsetMs = Math.round(ptsMs - dtsMs);
    return tag('video', dtsMs, videoHeader(codec, frameType, PACKET_CODED_FRAMES, offsetMs), data);
  },

  /** @param config AudioSpecificConfig of AAC, OpusHead of Opus, the STREAMINFO block with `fLaC` of FLAC */
  audioConfig(codec: AudioFourCc, config: Buffer, atMs: number): FlvTag {
    return tag('audio', atMs, audioHeader(codec, PACKET_SEQUENCE_START), config);
  },

  audio(codec: AudioFourCc, { dtsMs, data }: MediaSample): FlvTag {
    return tag('audio', dtsMs, audioHeader(codec, PACKET_CODED_FRAMES), data);
  },
};

function tag(kind: TrackKind, atMs: number, header: Buffer, payload: Buffer): FlvTag {
  const timestampMs = ((Math.floor(atMs) % maxTimestamp) + maxTimestamp) % maxTimestamp;
  return { kind, timestampMs, body: Buffer.concat([header, payload]) };
}

function videoHeader(codec: VideoFourCc, frameType: number, packetType: number, offsetMs: number): Buffer {
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
