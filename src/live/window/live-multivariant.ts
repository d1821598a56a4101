import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { CaptionChannel } from '../../media/codecs/closed-captions.ts';
import {
  formatMultivariantPlaylist,
  type MediaRendition,
  type Variant,
} from '../../media/hls/multivariant-playlist.ts';
import type { DeclaredMedia } from '../../media/samples/declared-media.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';
import { type ListedTrackLabel, listedAudioLabels } from './listed-audio.ts';

interface Bandwidth {
  readonly peakBitsPerSecond: number;
  readonly averageBitsPerSecond: number;
  /** Estimated bitrate while the others are 0. */
  readonly estimatedBitsPerSecond?: number | undefined;
  /** Peak of what precedes the first segment, while that is listed. */
  readonly leadInBitsPerSecond?: number;
}

/** A demuxed audio rendition. */
export interface AudioInfo extends Bandwidth {
  readonly uri: string;
  readonly groupId: string;
  /** 0 is the main track. */
  readonly trackId: number;
  readonly track: TrackDescription;
  readonly label?: ListedTrackLabel | undefined;
}

export interface VariantInfo extends Bandwidth {
  readonly uri: string;
  readonly tracks: Partial<Record<TrackKind, TrackDescription>>;
  readonly declared: DeclaredMedia | undefined;
  readonly frameSeconds: number | undefined;
  /** Maximum of our encoder; undefined for passthrough. */
  readonly maxBitsPerSecond?: number;
}

const captionsGroupId = 'captions';
/** The encoder's buffer holds a second, so that two seconds may exceed its maximum by this factor. */
const transcodedHeadroom = 1.5;
/** The publisher may exceed the measured bit rate by this factor. */
const headroom = 1.2;
const defaultFrameRate = 30;

/** RFC 6381 names, video first. */
export function codecsOf(tracks: VariantInfo['tracks']): string {
  return [tracks.video?.codec, tracks.audio?.codec].filter(codec => codec !== undefined).join(',');
}

/**
 * draft-pantos-hls-rfc8216bis-22, 4.4.6.1, 4.4.6.2 and 4.1 (peak segment bit rate). Lists every variant with each group.
 * @param audio by track
 */
export function formatLiveMultivariant(
  variants: readonly VariantInfo[],
  audio: readonly AudioInfo[] = [],
  captions: readonly CaptionChannel[] = [],
): string {
  const trackIds = [...new Set(audio.map(({ trackId }) => trackId))];
  const labels = listedAudioLabels(trackIds, trackId => audio.find(info => info.trackId === trackId)?.label);
  const groups = [...Map.groupBy(audio, ({ groupId }) => groupId)].map(([groupId, members]) =>
    completeGroup(groupId, members, [...labels.keys()], audio),
  );
  return formatMultivariantPlaylist({
    independentSegments: false,
    media: [...groups.flat().map(info => formatAudio(info, labels)), ...formatCaptions(captions)],
    variants:
      groups.length === 0
        ? variants.map(variant => formatVariant(variant, [], captions))
        : groups.flatMap(group => variants.map(variant => formatVariant(variant, group, captions))),
  });
}

/** 4.4.6.1.1: groups have the same tracks. One that has no codec of its own has that of another group. */
function completeGroup(
  groupId: string,
  members: readonly AudioInfo[],
  trackIds: readonly number[],
  audio: readonly AudioInfo[],
): AudioInfo[] {
  return trackIds.flatMap(trackId => {
    const found = [...members, ...audio].find(info => info.trackId === trackId);
    return found === undefined ? [] : [{ ...found, groupId }];
  });
}

function formatAudio(
  { groupId, trackId, track, uri }: AudioInfo,
  labels: ReturnType<typeof listedAudioLabels>,
): MediaRendition {
  return {
    type: 'AUDIO',
    groupId,
    ...labels.get(trackId)!,
    ...(track.channels === undefined ? {} : { channels: track.channels }),
    uri,
  };
}

/** A list without captions does not say CLOSED-CAPTIONS=NONE: they may begin later. */
function formatCaptions(captions: readonly CaptionChannel[]): MediaRendition[] {
  const isService = (channel: CaptionChannel) => channel.startsWith('SERVICE');
  const channels = captions.filter(channel => !isService(channel));
  const services = captions.filter(isService);
  const [autoselected] = [...channels, ...services];
  const format = (list: readonly CaptionChannel[], suffix: string) =>
    list.map(
      (instreamId, index): MediaRendition => ({
        type: 'CLOSED-CAPTIONS',
        groupId: captionsGroupId,
        instreamId,
        name: `Captions${index === 0 ? '' : ` ${index + 1}`}${suffix}`,
        isAutoselect: instreamId === autoselected,
      }),
    );
  // hls.js names CC1 after the last of CC1 and SERVICE1.
  return [...format(services, ' (CEA-708)'), ...format(channels, '')];
}

/** Formats a variant. Any track of the group may play: the highest bit rate counts, and the codecs of all. */
function formatVariant(
  info: VariantInfo,
  group: readonly AudioInfo[],
  captions: readonly CaptionChannel[],
): Variant {
  const { tracks, maxBitsPerSecond } = info;
  const { video } = tracks;
  const expected = maxBitsPerSecond ?? info.declared?.bitsPerSecond ?? info.estimatedBitsPerSecond ?? 0;
  const bandwidth = Math.max(
    Math.max(info.peakBitsPerSecond, expected) *
      (maxBitsPerSecond === undefined ? headroom : transcodedHeadroom),
    info.leadInBitsPerSecond ?? 0,
  );
  const audioPeak = highest(group, ({ peakBitsPerSecond }) => peakBitsPerSecond) * headroom;
  const audioAverage = highest(group, ({ averageBitsPerSecond }) => averageBitsPerSecond);
  const average = Math.ceil(Math.max((info.averageBitsPerSecond || expected) + audioAverage, 1));
  const audioCodecs = new Set(group.map(({ track }) => track.codec).filter(codec => codec !== undefined));
  return {
    uri: info.uri,
    bandwidthBitsPerSecond: Math.max(Math.ceil(bandwidth + audioPeak), average),
    averageBandwidthBitsPerSecond: average,
    codecs: group.length === 0 ? codecsOf(tracks) : [video?.codec, ...audioCodecs].join(','),
    ...(video?.width !== undefined && video.height !== undefined
      ? { width: video.width, height: video.height }
      : {}),
    ...(video === undefined
      ? {}
      : {
          frameRate: pickFrameRate(info.declared?.framesPerSecond, info.frameSeconds) ?? defaultFrameRate,
          videoRange: video.videoRange ?? 'SDR',
        }),
    audioGroup: group[0] === undefined ? undefined : group[0].groupId,
    ...(captions.length === 0 || video === undefined ? {} : { closedCaptionsGroup: captionsGroupId }),
  };
}

function highest(group: readonly AudioInfo[], rateOf: (info: AudioInfo) => number): number {
  return Math.max(0, ...group.map(info => rateOf(info) || (info.estimatedBitsPerSecond ?? 0)));
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
