import type { FlvTag } from '../../src/media/flv/flv-tag.ts';

/** AvMultitrackType of Enhanced RTMP, version 2. */
const types = { oneTrack: 0, manyTracks: 1, manyTracksManyCodecs: 2 } as const;
const packets = { audio: 5, video: 6 } as const;

/** The tag of a track, with its H.264 or audio as a single-track tag has it. */
export interface TrackTag {
  readonly trackId: number;
  readonly tag: FlvTag;
}

/** Puts H.264 or audio tags of one kind, codec, role and time into one multitrack tag. */
export function multitrackTag(tracks: readonly TrackTag[], type: keyof typeof types = 'oneTrack'): FlvTag {
  const { kind, timestampMs, body } = tracks[0]!.tag;
  if (kind === 'script') throw new Error('a script has no tracks');
  const isExtended = kind === 'audio' && body[0]! >> 4 === 9;
  const packetType = isExtended ? body[0]! & 0x0f : body[1]!;
  const headerBytes = isExtended || (kind === 'video' && packetType !== 1) ? 5 : 2;
  const first = kind === 'video' ? 0x80 | (body[0]! & 0x70) | packets.video : 0x90 | packets.audio;
  const fourCc = isExtended ? body.subarray(1, 5) : Buffer.from(kind === 'video' ? 'avc1' : 'mp4a');
  const chunks: Buffer[] = [Buffer.from([first, (types[type] << 4) | packetType])];
  if (type !== 'manyTracksManyCodecs') chunks.push(fourCc);
  for (const { trackId, tag } of tracks) {
    const payload = tag.body.subarray(headerBytes);
    if (type === 'manyTracksManyCodecs') chunks.push(fourCc);
    chunks.push(Buffer.from([trackId]));
    if (type !== 'oneTrack') {
      const size = Buffer.alloc(3);
      size.writeUIntBE(payload.length, 0, 3);
      chunks.push(size);
    }
    chunks.push(payload);
  }
  return { kind, timestampMs, body: Buffer.concat(chunks) };
}

/**
 * The messages of an encoder: all headers, then frames by time. The main tags stay single-track tags, as OBS and ffmpeg send
 * them.
 */
export function interleave(main: readonly FlvTag[], additional: readonly TrackTag[]): FlvTag[] {
  const tags = [...main, ...additional.map(track => multitrackTag([track]))];
  const rank = ({ kind, body, timestampMs }: FlvTag) =>
    kind === 'script' ? -2 : body[1] === 0 ? -1 : timestampMs;
  return tags.toSorted((one, other) => rank(one) - rank(other));
}
