import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { DeclaredMedia } from '../../media/flv/declared-media.ts';
import type { TrackKind } from '../../media/flv/flv-tag.ts';
import { formatMultivariantPlaylist, type Variant } from '../../media/hls/multivariant-playlist.ts';

interface Bandwidth {
  readonly peakBitsPerSecond: number;
  readonly averageBitsPerSecond: number;
  /** While the others are 0. */
  readonly estimatedBitsPerSecond?: number | undefined;
}

interface AudioRenditionInfo extends Bandwidth {
  readonly uri: string;
  readonly track: TrackDescription;
}

export interface VariantInfo extends Bandwidth {
  readonly uri: string;
  readonly tracks: Partial<Record<TrackKind, TrackDescription>>;
  readonly declared: DeclaredMedia | undefined;
  readonly frameSeconds: number | undefined;
  /** Maximum of our encoder; undefined for passthrough. */
  readonly maxBitsPerSecond?: number;
  readonly audioRendition?: AudioRenditionInfo | undefined;
}

const audioGroupId = 'audio';
/** The encoder's buffer holds a second, so that two seconds may exceed its maximum by this factor. */
const transcodedHeadroom = 1.5;
/** The publisher may exceed the measured bit rate by this factor. */
const headroom = 1.2;
const defaultFrameRate = 30;

/** RFC 6381 names, video first. */
export function codecsOf(tracks: VariantInfo['tracks']): string {
  return [tracks.video?.codec, tracks.audio?.codec].filter(codec => codec !== undefined).join(',');
}

/** draft-pantos-hls-rfc8216bis-22, 4.4.6.1, 4.4.6.2 and 4.1 (peak segment bit rate). */
export function formatLiveMultivariant(variants: readonly VariantInfo[]): string {
  const audio = variants[0]?.audioRendition;
  return formatMultivariantPlaylist({
    independentSegments: false,
    media:
      audio === undefined
        ? []
        : [
            {
              type: 'AUDIO',
              groupId: audioGroupId,
              name: 'Sound',
              // RTMP has no language.
              language: 'und',
              isDefault: true,
              isAutoselect: true,
              ...(audio.track.channels === undefined ? {} : { channels: audio.track.channels }),
              uri: audio.uri,
            },
          ],
    variants: variants.map(formatVariant),
  });
}

function formatVariant(info: VariantInfo): Variant {
  const { tracks, audioRendition, maxBitsPerSecond } = info;
  const { video } = tracks;
  const expected = maxBitsPerSecond ?? info.declared?.bitsPerSecond ?? info.estimatedBitsPerSecond ?? 0;
  const bandwidth =
    Math.max(info.peakBitsPerSecond, expected) *
    (maxBitsPerSecond === undefined ? headroom : transcodedHeadroom);
  const audioEstimate = audioRendition?.estimatedBitsPerSecond ?? 0;
  const audioPeak = (audioRendition?.peakBitsPerSecond || audioEstimate) * headroom;
  const audioAverage = audioRendition?.averageBitsPerSecond || audioEstimate;
  const average = Math.ceil(Math.max((info.averageBitsPerSecond || expected) + audioAverage, 1));
  return {
    uri: info.uri,
    bandwidthBitsPerSecond: Math.max(Math.ceil(bandwidth + audioPeak), average),
    averageBandwidthBitsPerSecond: average,
    codecs: codecsOf(audioRendition === undefined ? tracks : { ...tracks, audio: audioRendition.track }),
    ...(video?.width !== undefined && video.height !== undefined
      ? { width: video.width, height: video.height }
      : {}),
    ...(video === undefined
      ? {}
      : {
          frameRate: pickFrameRate(info.declared?.framesPerSecond, info.frameSeconds) ?? defaultFrameRate,
          videoRange: video.videoRange ?? 'SDR',
        }),
    ...(audioRendition === undefined ? {} : { audioGroup: audioGroupId }),
  };
}

/** Prefers the declared rate when it is near the measured one, since RTMP rounds to milliseconds. */
export function pickFrameRate(
  declared: number | undefined,
  frameSeconds: number | undefined,
): number | undefined {
  const measured = frameSeconds === undefined ? undefined : 1 / frameSeconds;
  if (measured === undefined) return declared;
  return declared !== undefined && Math.abs(declared - measured) / measured < 0.05 ? declared : measured;
}
