import { type Codec, codecs, type MediaEvent, type TrackKind, ticksPerMs } from '../samples/media-sample.ts';
import { readColorInfo } from './color-info.ts';
import { readDeclaredMedia } from './declared-media.ts';
import {
  audioHeaderBytes,
  compositionOffsetMs,
  describeAudioTag,
  describeVideoTag,
  type FlvTag,
  type TagCodec,
  videoHeaderBytes,
} from './flv-tag.ts';
import { isMultitrack, splitTracks } from './multitrack.ts';

/** VP8 is published over WHIP only. */
const knownCodecs: ReadonlyMap<string, Codec> = new Map(
  Object.values(codecs)
    .filter(codec => codec !== codecs.vp08)
    .map(codec => [codec.name, codec]),
);

/** Reads a tag into samples, configurations and what is announced. Commands and unknown tags yield nothing. */
export function readTagEvents(tag: FlvTag, emit: (event: MediaEvent) => void): void {
  if (tag.kind === 'script') {
    const media = readDeclaredMedia(tag.body);
    if (media !== undefined) emit({ type: 'declared', media });
  } else if (isMultitrack(tag)) {
    for (const each of splitTracks(tag)) readTrackTag(each, tag.kind, emit);
  } else readTrackTag(tag, tag.kind, emit);
}

function readTrackTag(
  { timestampMs, trackId = 0, body }: FlvTag,
  kind: TrackKind,
  emit: (event: MediaEvent) => void,
): void {
  const isVideo = kind === 'video';
  const described = isVideo ? describeVideoTag(body) : describeAudioTag(body);
  if (described === undefined) return;
  const { role } = described;
  if (role === 'other') {
    const color = isVideo && trackId === 0 ? readColorInfo(body) : undefined;
    if (color !== undefined) emit({ type: 'color', color });
    return;
  }
  const codec = codecOf(described.codec);
  const data = body.subarray(isVideo ? videoHeaderBytes(body) : audioHeaderBytes(body));
  // Keeps the first form, which every receiver reads.
  const tagBody = described.codec.isEnhanced && codec.fourCc === 'avc1' ? undefined : body;
  if (role === 'config') {
    emit({ type: 'config', kind, trackId, codec, data, tagBody });
    return;
  }
  const dtsTicks = timestampMs * ticksPerMs;
  const ptsTicks = isVideo ? dtsTicks + compositionOffsetMs(body) * ticksPerMs : dtsTicks;
  const isKeyframe = role === 'keyframe';
  emit({ type: 'sample', kind, trackId, codec, dtsTicks, ptsTicks, isKeyframe, data, tagBody });
}

function codecOf({ name }: TagCodec): Codec {
  return knownCodecs.get(name) ?? { name, fourCc: undefined };
}
