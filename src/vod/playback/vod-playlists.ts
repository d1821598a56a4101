import { formatMediaPlaylist } from '../../media/hls/format-media-playlist.ts';
import {
  formatMultivariantPlaylist,
  type MediaRendition,
  type Variant,
} from '../../media/hls/multivariant-playlist.ts';
import { canonicalLanguageTag } from '../../shared/text/language-tag.ts';
import type { OpenRendition } from '../index/rendition.ts';
import type { PlayableRendition, RenditionRecord } from './rendition-record.ts';

const AUDIO_GROUP = 'audio';
const CAPTIONS_GROUP = 'captions';

/** Players start with the first variant: it should load quickly at an acceptable quality. */
const FIRST_VARIANT_BITS_PER_SECOND = 2_000_000;

interface VodPlaylistOptions {
  readonly rendition: OpenRendition;
  readonly generation: number;
  /** Equal in all playlists of the video, and constant over time. */
  readonly targetDurationSeconds: number;
  readonly isComplete: boolean;
  readonly avh?: string;
}

/** VOD when it is complete, EVENT while it grows. **Source**: draft-pantos-hls-rfc8216bis-22, 4.4.3.5. */
export function formatVodPlaylist(options: VodPlaylistOptions): string {
  const { rendition, generation, targetDurationSeconds, isComplete, avh } = options;
  const { kind } = rendition.facts;
  const map = { uri: withSession(`init-${generation}.mp4`, avh) };
  return formatMediaPlaylist({
    targetDurationSeconds,
    mediaSequence: 0,
    discontinuitySequence: 0,
    independentSegments: true,
    playlistType: isComplete ? 'VOD' : 'EVENT',
    segments: Array.from({ length: rendition.segmentCount }, (_, index) => ({
      map,
      uri: withSession(`${kind}-${generation}-${index}.m4s`, avh),
      durationSeconds: rendition.durationSeconds(index),
      parts: [],
    })),
    preloadHints: [],
    renditionReports: [],
    endList: isComplete,
  });
}

interface VodMultivariantOptions {
  readonly renditions: readonly PlayableRendition[];
  readonly captions?: readonly VodCaptions[];
  /** RFC 5646. Default: that of the source. */
  readonly language?: string | undefined;
  readonly avh?: string;
}

export interface VodCaptions {
  readonly language: string;
  readonly label: string;
  readonly isDefault: boolean;
}

/**
 * Lists the uploaded file as the only segment. Files without X-TIMESTAMP-MAP use the video's times.
 * **Source**: draft-pantos-hls-rfc8216bis-22, 3.1.4; 4.4.3.1 allows another target duration for subtitles.
 */
export function formatCaptionsPlaylist(language: string, durationSeconds: number, avh?: string): string {
  return formatMediaPlaylist({
    targetDurationSeconds: Math.max(1, Math.ceil(durationSeconds)),
    mediaSequence: 0,
    discontinuitySequence: 0,
    independentSegments: false,
    playlistType: 'VOD',
    segments: [{ uri: withSession(`../../captions/${language}.vtt`, avh), durationSeconds, parts: [] }],
    preloadHints: [],
    renditionReports: [],
    endList: true,
  });
}

/**
 * All variants share one audio rendition; without video, audio is the only variant. **Source**:
 * draft-pantos-hls-rfc8216bis-22, 4.4.6.
 */
export function formatVodMultivariant({
  renditions,
  captions = [],
  language,
  avh,
}: VodMultivariantOptions): string {
  const audio = renditions.find(({ record }) => record.kind === 'audio');
  const videos = renditions
    .filter(({ record }) => record.kind === 'video')
    .sort((one, other) => one.record.peakBitsPerSecond - other.record.peakBitsPerSecond);
  const uriOf = ({ name }: PlayableRendition) => withSession(`${name}/manifest.m3u8`, avh);
  const subtitles = captions.map((track, index) => subtitlesOf(track, captions.slice(0, index), avh));
  const ofAll = subtitles.length === 0 ? {} : { subtitlesGroup: CAPTIONS_GROUP };
  if (videos.length === 0) {
    return formatMultivariantPlaylist({
      independentSegments: true,
      media: subtitles,
      variants:
        audio === undefined ? [] : [{ ...variantOf(audio.record, undefined, uriOf(audio)), ...ofAll }],
    });
  }
  const media: MediaRendition[] =
    audio === undefined
      ? []
      : [
          {
            type: 'AUDIO',
            groupId: AUDIO_GROUP,
            name: 'Main',
            // Required by Apple's specification (8.10), even if unknown.
            language: language ?? canonicalLanguageTag(audio.record.language ?? '') ?? 'und',
            isDefault: true,
            ...(audio.record.channels === undefined ? {} : { channels: audio.record.channels }),
            uri: uriOf(audio),
          },
        ];
  const variants = videos.map(video => ({
    ...variantOf(video.record, audio?.record, uriOf(video)),
    ...ofAll,
  }));
  const first = Math.max(
    0,
    variants.findLastIndex(variant => variant.bandwidthBitsPerSecond <= FIRST_VARIANT_BITS_PER_SECOND),
  );
  return formatMultivariantPlaylist({
    independentSegments: true,
    media: [...media, ...subtitles],
    variants: [...variants.slice(first, first + 1), ...variants.toSpliced(first, 1)],
  });
}

/** 4.4.6.1.1: names in a group are unique, and at most one rendition is the default. */
function subtitlesOf(
  { language, label, isDefault }: VodCaptions,
  before: readonly VodCaptions[],
  avh: string | undefined,
): MediaRendition {
  const isNamed = before.some(other => other.label === label);
  return {
    type: 'SUBTITLES',
    groupId: CAPTIONS_GROUP,
    name: isNamed ? `${label} (${language})` : label,
    language,
    isDefault: isDefault && !before.some(other => other.isDefault),
    isAutoselect: true,
    uri: withSession(`captions/${language}.m3u8`, avh),
  };
}

function variantOf(main: RenditionRecord, audio: RenditionRecord | undefined, uri: string): Variant {
  const { codec, width, height, frameRate, videoRange } = main;
  const peak = main.peakBitsPerSecond + (audio?.peakBitsPerSecond ?? 0);
  const average = main.averageBitsPerSecond + (audio?.averageBitsPerSecond ?? 0);
  return {
    uri,
    bandwidthBitsPerSecond: Math.max(1, peak),
    averageBandwidthBitsPerSecond: Math.max(1, average),
    codecs: audio === undefined ? codec : `${codec},${audio.codec}`,
    ...(width === undefined || height === undefined ? {} : { width, height }),
    ...(frameRate === undefined ? {} : { frameRate }),
    ...(videoRange === undefined ? {} : { videoRange }),
    ...(audio === undefined ? {} : { audioGroup: AUDIO_GROUP }),
  };
}

function withSession(uri: string, avh: string | undefined): string {
  return avh === undefined ? uri : `${uri}?avh=${encodeURIComponent(avh)}`;
}
