import { formatMediaPlaylist } from '../../media/hls/format-media-playlist.ts';
import {
  formatMultivariantPlaylist,
  type MediaRendition,
  type Variant,
} from '../../media/hls/multivariant-playlist.ts';
import { nativeLanguageName } from '../../shared/text/language-tag.ts';
import type { AudioTrack } from '../encoding-repository.ts';
import type { OpenRendition } from '../index/rendition.ts';
import { listedAudio } from './listed-audio.ts';
import type { PlayableRendition, RenditionRecord } from './rendition-record.ts';

const AUDIO_GROUP = 'audio';
const CAPTIONS_GROUP = 'captions';
const CLOSED_CAPTIONS_GROUP = 'cc';

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
  readonly audioTracks?: readonly AudioTrack[];
  /** CEA-608 captions are inside the video. */
  readonly hasClosedCaptions?: boolean;
  /** Of the video, RFC 5646. Default: that of the source. */
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
 * All variants share the audio renditions. Without video, the default one in stereo is the only variant.
 * **Source**: draft-pantos-hls-rfc8216bis-22, 4.4.6.
 */
export function formatVodMultivariant({
  renditions,
  captions = [],
  audioTracks = [],
  hasClosedCaptions = false,
  language,
  avh,
}: VodMultivariantOptions): string {
  const audio = listedAudio(renditions, audioTracks, language);
  const videos = renditions
    .filter(({ record }) => record.kind === 'video')
    .sort((one, other) => one.record.peakBitsPerSecond - other.record.peakBitsPerSecond);
  const uriOf = ({ name }: { readonly name: string }) => withSession(`${name}/manifest.m3u8`, avh);
  const subtitles = captions.map((track, index) => subtitlesOf(track, captions.slice(0, index), avh));
  const ofAll = subtitles.length === 0 ? {} : { subtitlesGroup: CAPTIONS_GROUP };
  const media: MediaRendition[] = audio.map(({ rendition, ...attributes }) => ({
    type: 'AUDIO',
    groupId: AUDIO_GROUP,
    ...attributes,
    uri: uriOf(rendition),
  }));
  if (videos.length === 0) {
    const main = audio.find(({ isDefault }) => isDefault)?.rendition;
    const hasChoice = audio.length > 1;
    const records = hasChoice ? audio.map(({ rendition }) => rendition.record) : [];
    return formatMultivariantPlaylist({
      independentSegments: true,
      media: [...(hasChoice ? media : []), ...subtitles],
      variants: main === undefined ? [] : [{ ...variantOf(main.record, records, uriOf(main)), ...ofAll }],
    });
  }
  const closedCaptions = hasClosedCaptions
    ? [closedCaptionsOf(language ?? audio.find(({ isDefault }) => isDefault)?.language)]
    : [];
  const variants = videos.map(video => ({
    ...variantOf(
      video.record,
      audio.map(({ rendition }) => rendition.record),
      uriOf(video),
    ),
    ...ofAll,
    ...(hasClosedCaptions ? { closedCaptionsGroup: CLOSED_CAPTIONS_GROUP } : {}),
  }));
  const first = Math.max(
    0,
    variants.findLastIndex(variant => variant.bandwidthBitsPerSecond <= FIRST_VARIANT_BITS_PER_SECOND),
  );
  return formatMultivariantPlaylist({
    independentSegments: true,
    media: [...media, ...subtitles, ...closedCaptions],
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

/** The main channel. Whether there are others is known once the captions are decoded. */
function closedCaptionsOf(language: string | undefined): MediaRendition {
  return {
    type: 'CLOSED-CAPTIONS',
    groupId: CLOSED_CAPTIONS_GROUP,
    name: language === undefined || language === 'und' ? 'Captions' : nativeLanguageName(language),
    ...(language === undefined || language === 'und' ? {} : { language }),
    isAutoselect: true,
    instreamId: 'CC1',
  };
}

/** `audio`: the renditions of its group. Its bitrates are those of the largest combination (4.4.6.2). */
function variantOf(main: RenditionRecord, audio: readonly RenditionRecord[], uri: string): Variant {
  const { codec, width, height, frameRate, videoRange } = main;
  const ofGroup = main.kind === 'audio' && audio.length > 0 ? undefined : main;
  const largest = (bitrate: (record: RenditionRecord) => number) =>
    (ofGroup === undefined ? 0 : bitrate(ofGroup)) + Math.max(0, ...audio.map(bitrate));
  return {
    uri,
    bandwidthBitsPerSecond: Math.max(
      1,
      largest(({ peakBitsPerSecond }) => peakBitsPerSecond),
    ),
    averageBandwidthBitsPerSecond: Math.max(
      1,
      largest(({ averageBitsPerSecond }) => averageBitsPerSecond),
    ),
    codecs: [...new Set([codec, ...audio.map(record => record.codec)])].join(),
    ...(width === undefined || height === undefined ? {} : { width, height }),
    ...(frameRate === undefined ? {} : { frameRate }),
    ...(videoRange === undefined ? {} : { videoRange }),
    ...(audio.length === 0 ? {} : { audioGroup: AUDIO_GROUP }),
  };
}

function withSession(uri: string, avh: string | undefined): string {
  return avh === undefined ? uri : `${uri}?avh=${encodeURIComponent(avh)}`;
}
