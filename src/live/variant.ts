import type { TrackDescription } from '../cmaf/init-segment.ts';
import { formatMultivariantPlaylist, type Variant } from '../hls/multivariant-playlist.ts';
import type { DeclaredMedia } from './flv-metadata.ts';
import type { TrackKind } from './timeline.ts';

/** The sound that goes with pictures, where it is apart from them. */
export interface SoundFacts {
  readonly uri: string;
  readonly track: TrackDescription;
  readonly peakBitsPerSecond: number;
  readonly averageBitsPerSecond: number;
}

/** All that the multivariant playlist says of one rendition. */
export interface VariantFacts {
  readonly uri: string;
  readonly tracks: Partial<Record<TrackKind, TrackDescription>>;
  readonly declared: DeclaredMedia | undefined;
  /** Usual duration of a video frame, in seconds. */
  readonly frameSeconds: number | undefined;
  readonly peakBitsPerSecond: number;
  readonly averageBitsPerSecond: number;
  /** What our encoder holds to; undefined for what is passed through. */
  readonly mostBitsPerSecond?: number;
  readonly sound?: SoundFacts | undefined;
}

/** The GROUP-ID of the sound. */
const soundGroup = 'audio';
/** Two seconds may take so many times what the encoder holds to, since its buffer holds one. */
const encodedHeadroom = 1.5;
/** Room above what was measured: a copied stream's rate is the encoder's to change. */
const headroom = 1.2;
/** Of a picture that says nothing of its rate. */
const usualFrameRate = 30;

/** RFC 6381 names of all tracks, video first. */
export function codecsOf(tracks: VariantFacts['tracks']): string {
  return [tracks.video?.codec, tracks.audio?.codec].filter(codec => codec !== undefined).join(',');
}

/** The multivariant playlist of one rendition. */
export function formatVariant(facts: VariantFacts): string {
  return formatVariants([facts]);
}

/**
 * The multivariant playlist of several renditions, in the order in which they are given.
 *
 * **Source**: draft-pantos-hls-rfc8216bis-22, 4.4.6.1 (EXT-X-MEDIA), 4.4.6.2 (EXT-X-STREAM-INF) and 4.1 (peak segment bit rate).
 */
export function formatVariants(all: readonly VariantFacts[]): string {
  const sound = all[0]?.sound;
  return formatMultivariantPlaylist({
    independentSegments: false,
    media:
      sound === undefined
        ? []
        : [
            {
              type: 'AUDIO',
              groupId: soundGroup,
              name: 'Sound',
              // RTMP does not say it.
              language: 'und',
              isDefault: true,
              isAutoselect: true,
              ...(sound.track.channels === undefined ? {} : { channels: sound.track.channels }),
              uri: sound.uri,
            },
          ],
    variants: all.map(variantOf),
  });
}

function variantOf(facts: VariantFacts): Variant {
  const { tracks, sound, mostBitsPerSecond } = facts;
  const { video } = tracks;
  const bandwidth =
    mostBitsPerSecond === undefined
      ? Math.max(facts.peakBitsPerSecond, facts.declared?.bitsPerSecond ?? 0) * headroom
      : Math.max(facts.peakBitsPerSecond, mostBitsPerSecond) * encodedHeadroom;
  const soundPeak = (sound?.peakBitsPerSecond ?? 0) * headroom;
  // Before the first segment is complete nothing was measured.
  const picture = facts.averageBitsPerSecond || (mostBitsPerSecond ?? facts.declared?.bitsPerSecond ?? 0);
  const average = Math.ceil(Math.max(picture + (sound?.averageBitsPerSecond ?? 0), 1));
  return {
    uri: facts.uri,
    bandwidthBitsPerSecond: Math.max(Math.ceil(bandwidth + soundPeak), average),
    averageBandwidthBitsPerSecond: average,
    codecs: codecsOf(sound === undefined ? tracks : { ...tracks, audio: sound.track }),
    ...(video?.width !== undefined && video.height !== undefined
      ? { width: video.width, height: video.height }
      : {}),
    ...(video === undefined
      ? {}
      : {
          frameRate: truestFrameRate(facts.declared?.framesPerSecond, facts.frameSeconds) ?? usualFrameRate,
          videoRange: video.videoRange ?? 'SDR',
        }),
    ...(sound === undefined ? {} : { audioGroup: soundGroup }),
  };
}

/**
 * Frames a second: RTMP rounds frames to milliseconds, so the declared rate is the truer one as long as it is near what was seen.
 *
 * @param frameSeconds usual duration of a frame, as it was seen
 */
export function truestFrameRate(
  declared: number | undefined,
  frameSeconds: number | undefined,
): number | undefined {
  const measured = frameSeconds === undefined ? undefined : 1 / frameSeconds;
  if (measured === undefined) return declared;
  return declared !== undefined && Math.abs(declared - measured) / measured < 0.05 ? declared : measured;
}
