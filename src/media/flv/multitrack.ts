import type { TrackKind } from '../samples/media-sample.ts';
import type { FlvTag } from './flv-tag.ts';

/** Enhanced RTMP, version 2: ExAudioTagHeader and ExVideoTagHeader. */
const EXTENDED_VIDEO = 0x80;
const EXTENDED_AUDIO = 0x90;
const PACKET_SEQUENCE_START = 0;
const PACKET_CODED_FRAMES = 1;
const PACKET_MOD_EX = 7;
const PACKET_MULTITRACK: Readonly<Record<TrackKind, number>> = { audio: 5, video: 6 };
const FRAME_TYPE_COMMAND = 5;
const MULTITRACK_ONE = 0;
const MULTITRACK_MANY_CODECS = 2;
/** AAC, 44.1 kHz, 16 bits, stereo: AAC always says so. */
const AAC_FLAGS = 0xaf;
const MP3_FLAGS = 0x2f;
const AVC = 7;
/** Maximum tracks and modifiers: more than encoders send. */
const maxTracks = 32;
const maxModifiers = 8;

/** Has the tracks of several, modifiers before its header, or a FourCC where there is a first form. */
export function isMultitrack({ kind, body }: FlvTag): boolean {
  if (kind === 'script') return false;
  const first = body[0]!;
  const isExtended = kind === 'video' ? (first & EXTENDED_VIDEO) !== 0 : first >> 4 === EXTENDED_AUDIO >> 4;
  const packetType = first & 0x0f;
  if (!isExtended) return false;
  if (packetType === PACKET_MULTITRACK[kind] || packetType === PACKET_MOD_EX) return true;
  return kind === 'audio' && ['mp4a', '.mp3'].includes(body.toString('latin1', 1, 5));
}

/**
 * Splits a tag with {@link isMultitrack} into one per track, without modifiers. Their bodies are those of single-track
 * tags, H.264, AAC and MP3 in their first form. What is malformed is left out.
 */
export function splitTracks({ kind, timestampMs, body }: FlvTag): FlvTag[] {
  if (kind === 'script') return [];
  const frameType = (body[0]! >> 4) & 0b111;
  const [packetType, position] = skipModifiers(body);
  if (packetType === undefined || (kind === 'video' && frameType === FRAME_TYPE_COMMAND)) return [];
  const tags: FlvTag[] = [];
  const add = (trackId: number, innerType: number, fourCc: string, payload: Buffer) => {
    const header = headerOf(kind, frameType, innerType, fourCc, payload);
    if (header !== undefined) tags.push({ kind, timestampMs, trackId, body: Buffer.concat(header) });
  };
  if (packetType === PACKET_MULTITRACK[kind]) readTracks(kind, body, position, add);
  else if (position + 4 < body.length) {
    add(0, packetType, body.toString('latin1', position, position + 4), body.subarray(position + 4));
  }
  return tags;
}

/** Nanoseconds of a timestamp are below the clock that frames are put on. */
function skipModifiers(body: Buffer): [packetType: number | undefined, position: number] {
  let packetType = body[0]! & 0x0f;
  let position = 1;
  for (let count = 0; packetType === PACKET_MOD_EX; count += 1) {
    if (count >= maxModifiers || position + 3 > body.length) return [undefined, position];
    let bytes = body[position]! + 1;
    position += 1;
    if (bytes === 256) {
      bytes = body.readUInt16BE(position) + 1;
      position += 2;
    }
    position += bytes;
    if (position >= body.length) return [undefined, position];
    packetType = body[position]! & 0x0f;
    position += 1;
  }
  return [packetType, position];
}

function readTracks(
  kind: TrackKind,
  body: Buffer,
  start: number,
  add: (trackId: number, packetType: number, fourCc: string, payload: Buffer) => void,
): void {
  let position = start + 1;
  if (position > body.length) return;
  const type = body[start]! >> 4;
  const packetType = body[start]! & 0x0f;
  if (type > MULTITRACK_MANY_CODECS || packetType === PACKET_MULTITRACK[kind]) return;
  let fourCc = '';
  const readFourCc = () => {
    fourCc = body.toString('latin1', position, position + 4);
    position += 4;
  };
  if (type !== MULTITRACK_MANY_CODECS) readFourCc();
  for (let count = 0; count < maxTracks && position < body.length; count += 1) {
    if (type === MULTITRACK_MANY_CODECS) readFourCc();
    const trackId = body[position];
    position += 1;
    if (trackId === undefined) return;
    let end = body.length;
    if (type !== MULTITRACK_ONE) {
      if (position + 3 > body.length) return;
      end = position + 3 + body.readUIntBE(position, 3);
      position += 3;
    }
    if (end > body.length) return;
    add(trackId, packetType, fourCc, body.subarray(position, end));
    position = end;
  }
}

/** Undefined for a packet without payload. */
function headerOf(
  kind: TrackKind,
  frameType: number,
  packetType: number,
  fourCc: string,
  payload: Buffer,
): [Buffer, Buffer] | [Buffer, Buffer, Buffer] | undefined {
  if (payload.length === 0) return undefined;
  const isFrame = packetType === PACKET_CODED_FRAMES;
  if (kind === 'audio') {
    if (fourCc === 'mp4a' && packetType <= PACKET_CODED_FRAMES)
      return [Buffer.from([AAC_FLAGS, packetType]), payload];
    if (fourCc === '.mp3' && isFrame) return [Buffer.of(MP3_FLAGS), payload];
    return [extendedHeader(EXTENDED_AUDIO | packetType, fourCc), payload];
  }
  if (fourCc === 'avc1' && packetType <= 3 && packetType !== 2) {
    const offset = isFrame ? payload.subarray(0, 3) : Buffer.alloc(3);
    const data = isFrame ? payload.subarray(3) : payload;
    const head = Buffer.from([(frameType << 4) | AVC, packetType === PACKET_SEQUENCE_START ? 0 : 1]);
    return data.length === 0 ? undefined : [head, offset, data];
  }
  return [extendedHeader(EXTENDED_VIDEO | (frameType << 4) | packetType, fourCc), payload];
}

function extendedHeader(first: number, fourCc: string): Buffer {
  const header = Buffer.alloc(5);
  header[0] = first;
  header.write(fourCc, 1, 'latin1');
  return header;
}
