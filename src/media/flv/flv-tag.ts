import type { TrackKind } from '../samples/media-sample.ts';

export interface FlvTag {
  readonly kind: TrackKind | 'script';
  /** 0..2^32-1; may jump, run backwards and wrap. */
  readonly timestampMs: number;
  /** Id of an additional track, 1..255; the main one is 0 or undefined. */
  readonly trackId?: number;
  /** Body of at least one byte, never written to again. */
  readonly body: Buffer;
}

/** Reads the headers of FLV tag bodies. FLV specification 10.1, E.4.2 and E.4.3; Enhanced RTMP, version 2. */

export interface TagCodec {
  readonly name: string;
  readonly isEnhanced: boolean;
}

/** `config` is a sequence header, `other` is not packaged (metadata, commands, end of sequence). */
type TagRole = 'config' | 'keyframe' | 'frame' | 'other';

interface TagDescription {
  readonly codec: TagCodec;
  readonly role: TagRole;
}

const videoNames: Readonly<Record<number, string>> = {
  2: 'Sorenson H.263',
  3: 'Screen video',
  4: 'VP6',
  5: 'VP6 with alpha',
  6: 'Screen video 2',
  7: 'H.264',
  8: 'H.263',
  9: 'MPEG-4 part 2',
  12: 'HEVC (without a FourCC)',
};

const audioNames: Readonly<Record<number, string>> = {
  0: 'PCM',
  1: 'ADPCM',
  2: 'MP3',
  3: 'PCM',
  4: 'Nellymoser',
  5: 'Nellymoser',
  6: 'Nellymoser',
  7: 'G.711 A-law',
  8: 'G.711 mu-law',
  10: 'AAC',
  11: 'Speex',
  14: 'MP3',
};

const fourCcNames: Readonly<Record<string, string>> = {
  avc1: 'H.264',
  hvc1: 'HEVC',
  vvc1: 'VVC',
  av01: 'AV1',
  vp08: 'VP8',
  vp09: 'VP9',
  mp4a: 'AAC',
  Opus: 'Opus',
  fLaC: 'FLAC',
  'ac-3': 'AC-3',
  'ec-3': 'E-AC-3',
  '.mp3': 'MP3',
};

const frameTypeKey = 1;
const frameTypeCommand = 5;

type RoleDescriptions = Readonly<Record<TagRole, TagDescription>>;

/** Made once, so that tags need no objects of their own. */
function describeRoles(codec: TagCodec): RoleDescriptions {
  const describe = (role: TagRole): TagDescription => ({ codec, role });
  return {
    config: describe('config'),
    keyframe: describe('keyframe'),
    frame: describe('frame'),
    other: describe('other'),
  };
}

/** Describes tags by codec id, which has four bits. */
function describeCodecs(nameOf: (id: number) => string): readonly RoleDescriptions[] {
  return Array.from({ length: 16 }, (_, id) => describeRoles({ name: nameOf(id), isEnhanced: false }));
}

const avcId = 7;
const aacId = 10;
const enhancedFormat = 9;
const videoCodecs = describeCodecs(id => videoNames[id] ?? `video codec ${id}`);
const audioCodecs = describeCodecs(id => audioNames[id] ?? `audio codec ${id}`);
const enhancedCodecs = new Map(
  Object.entries(fourCcNames).map(([fourCc, name]) => [fourCc, describeRoles({ name, isEnhanced: true })]),
);

export function describeVideoTag(body: Buffer): TagDescription | undefined {
  if (body.length < 2) return undefined;
  const first = body[0]!;
  const frameType = (first >> 4) & 0b111;
  const frameRole: TagRole =
    frameType === frameTypeCommand ? 'other' : frameType === frameTypeKey ? 'keyframe' : 'frame';
  if ((first & 0x80) !== 0) {
    if (body.length < 5) return undefined;
    const packetType = first & 0x0f;
    // 0 sequence start, 1 coded frames, 3 the same without composition time. Other types do not hold one frame.
    const role = packetType === 0 ? 'config' : packetType === 1 || packetType === 3 ? frameRole : 'other';
    return describeEnhanced(body, role);
  }
  const id = first & 0x0f;
  const roles = videoCodecs[id]!;
  if (id !== avcId) return roles[frameRole];
  if (body.length < 5) return undefined;
  return roles[body[1] === 0 ? 'config' : body[1] === 1 ? frameRole : 'other'];
}

/** The headers before the frame or configuration of a video tag. */
export function videoHeaderBytes(body: Buffer): number {
  const first = body[0] ?? 0;
  if ((first & 0x80) === 0) return 5;
  // Reads the composition time, which only coded frames (1) of AVC and HEVC have in enhanced RTMP.
  return (first & 0x0f) === 1 && body.toString('latin1', 1, 5) !== 'av01' ? 8 : 5;
}

export function compositionOffsetMs(body: Buffer): number {
  const isEnhanced = (body[0]! & 0x80) !== 0;
  // Only coded frames (1) of AVC and HEVC have it in the enhanced form.
  const says = isEnhanced
    ? (body[0]! & 0x0f) === 1 && ['avc1', 'hvc1'].includes(body.toString('latin1', 1, 5))
    : (body[0]! & 0x0f) === 7 && body[1] === 1;
  const at = isEnhanced ? 5 : 2;
  return says && body.length >= at + 3 ? body.readIntBE(at, 3) : 0;
}

export function describeAudioTag(body: Buffer): TagDescription | undefined {
  if (body.length < 2) return undefined;
  const first = body[0]!;
  const format = first >> 4;
  if (format === enhancedFormat) {
    if (body.length < 5) return undefined;
    const packetType = first & 0x0f;
    return describeEnhanced(body, packetType === 0 ? 'config' : packetType === 1 ? 'frame' : 'other');
  }
  return audioCodecs[format]![format === aacId && body[1] === 0 ? 'config' : 'frame'];
}

/** The headers before the frame or configuration of an audio tag. */
export function audioHeaderBytes(body: Buffer): number {
  const format = (body[0] ?? 0) >> 4;
  return format === enhancedFormat ? 5 : format === aacId ? 2 : 1;
}

function describeEnhanced(body: Buffer, role: TagRole): TagDescription {
  const fourCc = body.toString('latin1', 1, 5);
  const known = enhancedCodecs.get(fourCc);
  if (known !== undefined) return known[role];
  return { codec: { name: `codec ${JSON.stringify(fourCc)}`, isEnhanced: true }, role };
}

export const flvTagTypes = { audio: 8, video: 9 } as const;

/** Signature, version 1, the kinds of tags, and the size of no previous tag. */
export function flvHeader(hasAudio: boolean, hasVideo: boolean): Buffer {
  return Buffer.from([0x46, 0x4c, 0x56, 1, (hasAudio ? 4 : 0) | (hasVideo ? 1 : 0), 0, 0, 0, 9, 0, 0, 0, 0]);
}

/** The 11 bytes before a tag body and the 4 after it. @param timestampMs 0..2^32-1 */
export function flvTagEnvelope(
  kind: 'audio' | 'video',
  timestampMs: number,
  bodyBytes: number,
): [Buffer, Buffer] {
  const head = Buffer.alloc(11);
  head[0] = flvTagTypes[kind];
  head.writeUIntBE(bodyBytes, 1, 3);
  head.writeUIntBE(timestampMs & 0xffffff, 4, 3);
  head[7] = (timestampMs >>> 24) & 0xff;
  const tail = Buffer.alloc(4);
  tail.writeUInt32BE(11 + bodyBytes);
  return [head, tail];
}
