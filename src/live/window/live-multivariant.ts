import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { DeclaredMedia } from '../../media/flv/declared-media.ts';
import type { TrackKind } from '../../media/flv/flv-tag.ts';
import { formatMultivariantPlaylist, type Variant } from '../../media/hls/multivariant-playlist.ts';

/** The sound that goes with pictures, where it is apart from them. */
export interface AudioRenditionInfo {
  readonly uri: string;
  readonly track: TrackDescription;
  readonly peakBitsPerSecond: number;
  readonly averageBitsPerSecond: number;
}

/** All that the multivariant playlist says of one rendition. */
export interface VariantInfo {
  readonly uri: string;
  readonly tracks: Partial<Record<TrackKind, TrackDescription>>;
  readonly declared: DeclaredMedia | undefined;
  /** Usual duration of a video frame, in seconds. */
  readonly frameSeconds: number | undefined;
  readonly peakBitsPerSecond: number;
  readonly averageBitsPerSecond: number;
  /** What our encoder holds to; undefined for what is passed through. */
  readonly maxBitsPerSecond?: number;
  readonly audioRendition?: AudioRenditionInfo | undefined;
}

/** The GROUP-ID of the sound. */
const audioGroupId = 'audio';
/** Two seconds may take so many times what the encoder holds to, since its buffer holds one. */
const transcodedHeadroom = 1.5;
/** Room above what was measured: a copied stream's rate is the encoder's to change. */
const headroom = 1.2;
/** Of a picture that says nothing of its rate. */
const defaultFrameRate = 30;

/** RFC 6381 names of all tracks, video first. */
export function codecsOf(tracks: VariantInfo['tracks']): string {
  return [tracks.video?.codec, tracks.audio?.codec].filter(codec => codec !== undefined).join(',');
}

/** The multivariant playlist of one rendition. */
export function formatVariant(facts: VariantInfo): string {
  return formatLiveMultivariant([facts]);
}

/**
 * The multivariant playlist of several renditions, in the order in which they are given.
 *
 * **Source**: draft-pantos-hls-rfc8216bis-22, 4.4.6.1 (EXT-X-MEDIA), 4.4.6.2 (EXT-X-STREAM-INF) and 4.1 (peak segment bit rate).
 */
export function formatLiveMultivariant(all: readonly VariantInfo[]): string {
  const sound = all[0]?.audioRendition;
  return formatMultivariantPlaylist({
    independentSegments: false,
    media:
      sound === undefined
        ? []
        : [
            {
              type: 'AUDIO',
              groupId: audioGroupId,
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

function variantOf(facts: VariantInfo): Variant {
  const { tracks, audioRendition, maxBitsPerSecond } = facts;
  const { video } = tracks;
  const bandwidth =
    maxBitsPerSecond === undefined
      ? Math.max(facts.peakBitsPerSecond, facts.declared?.bitsPerSecond ?? 0) * headroom
      : Math.max(facts.peakBitsPerSecond, maxBitsPerSecond) * transcodedHeadroom;
  const soundPeak = (audioRendition?.peakBitsPerSecond ?? 0) * headroom;
  // Before the first segment is complete nothing was measured.
  const picture = facts.averageBitsPerSecond || (maxBitsPerSecond ?? facts.declared?.bitsPerSecond ?? 0);
  const average = Math.ceil(Math.max(picture + (audioRendition?.averageBitsPerSecond ?? 0), 1));
  return {
    uri: facts.uri,
    bandwidthBitsPerSecond: Math.max(Math.ceil(bandwidth + soundPeak), average),
    averageBandwidthBitsPerSecond: average,
    codecs: codecsOf(audioRendition === undefined ? tracks : { ...tracks, audio: audioRendition.track }),
    ...(video?.width !== undefined && video.height !== undefined
      ? { width: video.width, height: video.height }
      : {}),
    ...(video === undefined
      ? {}
      : {
          frameRate: pickFrameRate(facts.declared?.framesPerSecond, facts.frameSeconds) ?? defaultFrameRate,
          videoRange: video.videoRange ?? 'SDR',
        }),
    ...(audioRendition === undefined ? {} : { audioGroup: audioGroupId }),
  };
}

/**
 * Frames a second: RTMP rounds frames to milliseconds, so the declared rate is the truer one as long as it is near what was seen.
 *
 * @param frameSeconds usual duration of a frame, as it was seen
 */
export function pickFrameRate(
  declared: number | undefined,
  frameSeconds: number | undefined,
): number | undefined {
  const measured = frameSeconds === undefined ? undefined : 1 / frameSeconds;
  if (measured === undefined) return declared;
  return declared !== undefined && Math.abs(declared - measured) / measured < 0.05 ? declared : measured;
}
