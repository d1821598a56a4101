import type { TrackDescription } from '../cmaf/init-segment.ts';
import { formatMultivariantPlaylist } from '../hls/multivariant-playlist.ts';
import type { DeclaredMedia } from './flv-metadata.ts';
import type { TrackKind } from './timeline.ts';

/** All that the multivariant playlist of one passed-through rendition says. */
export interface VariantFacts {
  readonly uri: string;
  readonly tracks: Partial<Record<TrackKind, TrackDescription>>;
  readonly declared: DeclaredMedia | undefined;
  /** Usual duration of a video frame, in seconds. */
  readonly frameSeconds: number | undefined;
  readonly peakBitsPerSecond: number;
  readonly averageBitsPerSecond: number;
}

/** Room above what was measured: a copied stream's rate is the encoder's to change. */
const headroom = 1.2;

/** RFC 6381 names of all tracks, video first. */
export function codecsOf(tracks: VariantFacts['tracks']): string {
  return [tracks.video?.codec, tracks.audio?.codec].filter(codec => codec !== undefined).join(',');
}

/**
 * The multivariant playlist.
 *
 * **Source**: draft-pantos-hls-rfc8216bis-22, 4.4.6.2 (EXT-X-STREAM-INF) and 4.1 (peak segment bit rate).
 */
export function formatVariant(facts: VariantFacts): string {
  const { video } = facts.tracks;
  const declared = facts.declared?.bitsPerSecond ?? 0;
  const average = Math.ceil(Math.max(facts.averageBitsPerSecond, 1));
  return formatMultivariantPlaylist({
    independentSegments: false,
    media: [],
    variants: [
      {
        uri: facts.uri,
        bandwidthBitsPerSecond: Math.ceil(
          Math.max(facts.peakBitsPerSecond * headroom, declared * headroom, average),
        ),
        averageBandwidthBitsPerSecond: average,
        codecs: codecsOf(facts.tracks),
        ...(video?.width !== undefined && video.height !== undefined
          ? { width: video.width, height: video.height }
          : {}),
        ...(video === undefined
          ? {}
          : { frameRate: frameRateOf(facts), videoRange: video.videoRange ?? 'SDR' }),
      },
    ],
  });
}

/** RTMP rounds frames to milliseconds, so the declared rate is the truer one as long as it is near what was seen. */
function frameRateOf(facts: VariantFacts): number {
  const declared = facts.declared?.framesPerSecond;
  const measured = facts.frameSeconds === undefined ? undefined : 1 / facts.frameSeconds;
  if (measured === undefined) return declared ?? 30;
  return declared !== undefined && Math.abs(declared - measured) / measured < 0.05 ? declared : measured;
}
