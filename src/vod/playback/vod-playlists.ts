import { formatMediaPlaylist } from '../../media/hls/format-media-playlist.ts';
import {
  formatMultivariantPlaylist,
  type MediaRendition,
  type Variant,
} from '../../media/hls/multivariant-playlist.ts';
import { additionalCodecs } from '../../shared/additional-codecs.ts';
import { qualities } from '../../shared/qualities.ts';
import { nativeLanguageName } from '../../shared/text/language-tag.ts';
import type { AudioTrack } from '../encoding-repository.ts';
import type { OpenRendition } from '../index/rendition.ts';
import { type ListedAudio, listedAudio } from './listed-audio.ts';
import type { PlayableRendition, RenditionRecord } from './rendition-record.ts';

const AUDIO_GROUP = 'audio';
const SURROUND_GROUP = 'surround';
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
  const { kind } = rendition.renditionMetadata;
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
  /** Language of the video, RFC 5646. Default: that of the source. */
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
 * Formats the multivariant playlist. All variants share the audio renditions. 5.1 has a group of its own, with all
 * tracks, so that players choose by the channels that they can play. Without video, the default track in stereo is
 * the only variant.
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
    .sort(
      (one, other) =>
        codecPlaceOf(one) - codecPlaceOf(other) ||
        one.record.peakBitsPerSecond - other.record.peakBitsPerSecond,
    );
  const hasCodecs = videos.some(({ codec }) => codec !== undefined);
  const uriOf = ({ name }: { readonly name: string }) => withSession(`${name}/manifest.m3u8`, avh);
  const subtitles = captions.map((track, index) => subtitlesOf(track, captions.slice(0, index), avh));
  const ofAll = subtitles.length === 0 ? {} : { subtitlesGroup: CAPTIONS_GROUP };
  const mediaOf = ({ groupId, members }: AudioGroup): MediaRendition[] =>
    members.map(({ rendition, ...attributes }) => ({
      type: 'AUDIO',
      groupId,
      ...attributes,
      uri: uriOf(rendition),
      ...(rendition.record.channels === undefined ? {} : { channels: rendition.record.channels }),
    }));
  if (videos.length === 0) {
    // Variants with other groups would be other qualities.
    const [group] = audioGroups(audio);
    const main = group?.members.find(({ isDefault }) => isDefault)?.rendition;
    const ofGroup = group !== undefined && group.members.length > 1 ? group : undefined;
    return formatMultivariantPlaylist({
      independentSegments: true,
      media: [...(ofGroup === undefined ? [] : mediaOf(ofGroup)), ...subtitles],
      variants: main === undefined ? [] : [{ ...variantOf(main.record, ofGroup, uriOf(main)), ...ofAll }],
    });
  }
  const closedCaptions = hasClosedCaptions
    ? [closedCaptionsOf(language ?? audio.find(({ isDefault }) => isDefault)?.language)]
    : [];
  const groups = audioGroups(audio);
  const variantsWith = (group: AudioGroup | undefined) =>
    videos.map(video => ({
      ...variantOf(video.record, group, uriOf(video)),
      ...ofAll,
      ...(hasCodecs ? { score: scoreOf(video) } : {}),
      ...(hasClosedCaptions ? { closedCaptionsGroup: CLOSED_CAPTIONS_GROUP } : {}),
    }));
  const [variants = variantsWith(undefined), ...others] = groups.map(variantsWith);
  const bandwidthOf = (index: number) =>
    Math.max(...[variants, ...others].map(list => list[index]!.bandwidthBitsPerSecond));
  const first = Math.max(
    0,
    variants.findLastIndex(
      (_, index) => videos[index]?.codec === undefined && bandwidthOf(index) <= FIRST_VARIANT_BITS_PER_SECOND,
    ),
  );
  // hls.js takes variants that differ in their groups only as one, with the renditions of all of them.
  const list = [variants, ...others].flatMap(ofGroup => {
    const equal = ofGroup.map((variant, index) => ({
      ...variant,
      bandwidthBitsPerSecond: bandwidthOf(index),
    }));
    return [...equal.slice(first, first + 1), ...equal.toSpliced(first, 1)];
  });
  return formatMultivariantPlaylist({
    independentSegments: true,
    media: [...groups.flatMap(mediaOf), ...subtitles, ...closedCaptions],
    variants: list,
  });
}

interface GroupMember extends Omit<ListedAudio, 'stereo' | 'surround'> {
  readonly rendition: PlayableRendition;
}

interface AudioGroup {
  readonly groupId: string;
  readonly members: readonly GroupMember[];
}

/**
 * 4.4.6.1.1: groups have the same members, which differ in their URI and channels only. 5.1 is also a choice beside its
 * stereo, so that a variant needs the same bitrate with either group.
 */
function audioGroups(audio: readonly ListedAudio[]): AudioGroup[] {
  const membersOf = (isSurround: boolean) =>
    audio.flatMap(({ stereo, surround, ...attributes }): GroupMember[] => {
      const rendition = isSurround ? (surround ?? stereo) : (stereo ?? surround);
      const more = { ...attributes, name: `${attributes.name} 5.1`, isDefault: false, isAutoselect: false };
      return [
        ...(rendition === undefined ? [] : [{ ...attributes, rendition }]),
        ...(stereo === undefined || surround === undefined ? [] : [{ ...more, rendition: surround }]),
      ];
    });
  const hasBoth = audio.some(({ stereo, surround }) => stereo !== undefined && surround !== undefined);
  return [
    ...(audio.length === 0 ? [] : [{ groupId: AUDIO_GROUP, members: membersOf(false) }]),
    ...(hasBoth ? [{ groupId: SURROUND_GROUP, members: membersOf(true) }] : []),
  ];
}

/** H.264 first: players that know no other codec start with the first variant. */
function codecPlaceOf({ codec }: PlayableRendition): number {
  return codec === undefined ? 0 : 1 + additionalCodecs.indexOf(codec);
}

/** Scores a variant. Of two with the same picture, the one that needs fewer bits is better (4.4.6.2, SCORE). */
function scoreOf(video: PlayableRendition): number {
  const quality = qualities.findIndex(name => video.name.endsWith(name));
  return 1 + quality + codecPlaceOf(video) / (1 + additionalCodecs.length);
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

/** Describes a variant. Its bitrates are those of the largest combination with a member of its group (4.4.6.2). */
function variantOf(main: RenditionRecord, group: AudioGroup | undefined, uri: string): Variant {
  const audio = group?.members.map(({ rendition }) => rendition.record) ?? [];
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
    frameRate,
    videoRange,
    audioGroup: group?.groupId,
  };
}

function withSession(uri: string, avh: string | undefined): string {
  return avh === undefined ? uri : `${uri}?avh=${encodeURIComponent(avh)}`;
}
