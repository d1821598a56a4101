import type { ProbedStream } from '../../ffmpeg/media-tools.ts';
import { audioRenditionName, maxAudioTracks } from '../../shared/audio-rendition.ts';
import { canonicalLanguageTag } from '../../shared/text/language-tag.ts';
import { trackTitle } from '../../shared/text/track-title.ts';
import { overhangSeconds, type SourceRequest } from './source-request.ts';

/** One rendition. A source with 5.1 has one in stereo and one in 5.1. */
export interface AudioPlan {
  /** Name as in {@link audioRenditionName}. */
  readonly name: string;
  readonly track: number;
  readonly index: number;
  /** Index of the track with the right channel, when there is one. */
  readonly rightIndex: number | undefined;
  readonly isPassthrough: boolean;
  readonly reason: string | undefined;
  /** Channels of the source. */
  readonly channels: number;
  readonly isSurround: boolean;
  readonly language: string | undefined;
  /** Silence is added up to this time since the first presented instant: audio ends before video, or one side before the other. */
  readonly untilSeconds: number | undefined;
}

/** An audio track as in the source, before the owner's changes. */
export interface SourceAudioTrack {
  /** Number from 1, in the order of the source, except that the default track is the first. */
  readonly track: number;
  readonly language: string | undefined;
  readonly name: string | undefined;
  readonly codec: string;
  readonly channels: number;
  readonly isDescription: boolean;
}

interface SourceAudioStream extends ProbedStream {
  readonly rightIndex?: number;
}

interface AudioContext {
  readonly video: ProbedStream | undefined;
  readonly request: SourceRequest;
  readonly isWhole: boolean;
  /** Duration of the whole source or the part; 0 if unknown. */
  readonly durationSeconds: number;
}

const passthroughProfiles = ['LC', 'HE-AAC', 'HE-AACv2'];
/** Layouts of other counts cannot be told from 5.1 and 7.1 that lack channels. */
const surroundChannels = { min: 6, max: 8 };
const passthroughSurroundChannels = 6;

/** Names of tracks that tell which channel they have, and nothing else. */
const channelName =
  /^(?:(?:audio|track|channel|ch|mono|stereo|stream|mic|input)[ ._#-]*)*(?:[ab]?\d{1,2}|l|r|left|right)?(?:[ ._-]+(?:channel|audio|mono))?$/i;
const leftName = /(?<![a-z])(?:l|left)(?![a-z])/i;
const rightName = /(?<![a-z])(?:r|right)(?![a-z])/i;
/** **Source**: EBU R37, audio and video stay within 40 ms. */
const maxSideOffsetSeconds = 0.04;

/**
 * The default track first. Leaves out undecodable tracks, and those above {@link maxAudioTracks}.
 * @param joinsMono makes stereo tracks of the left and the right ones of a camera
 */
export function audioStreamsOf(streams: readonly ProbedStream[], joinsMono = false): SourceAudioStream[] {
  const decodable = streams.filter(isDecodableAudio);
  const tracks = joinsMono ? joinSides(decodable) : decodable;
  const main = tracks.find(({ isDefault }) => isDefault) ?? tracks[0];
  return main === undefined
    ? []
    : [main, ...tracks.filter(stream => stream !== main)].slice(0, maxAudioTracks);
}

/** Joins all tracks in pairs, or else the two that are called left and right. */
function joinSides(streams: readonly ProbedStream[]): SourceAudioStream[] {
  const pairs = streams.flatMap((one, index) => {
    const next = streams[index + 1];
    return index % 2 === 1 || next === undefined ? [] : [inOrderOfSides(one, next)];
  });
  if (2 * pairs.length === streams.length && pairs.every(([left, right]) => areSides(left, right))) {
    return pairs.map(([left, right]) => joinedFrom(left, right));
  }
  const named = (name: RegExp) =>
    streams.filter(one => one.channels === 1 && isChannelName(one) && name.test(one.title ?? ''));
  const [left, otherLeft] = named(leftName);
  const [right, otherRight] = named(rightName);
  const isClear = otherLeft === undefined && otherRight === undefined && left !== right;
  if (left === undefined || right === undefined || !isClear || left.language !== right.language) {
    return [...streams];
  }
  return streams.flatMap(one => (one === right ? [] : [one === left ? joinedFrom(left, right) : one]));
}

/** Begins with the earlier one, and ends with the later one. */
function joinedFrom({ title, ...left }: ProbedStream, right: ProbedStream): SourceAudioStream {
  const isDefault = left.isDefault || right.isDefault;
  const both = { ...left, isDefault, channels: 2, rightIndex: right.index };
  const [leftEnd, rightEnd] = [endOf(left), endOf(right)];
  if (leftEnd === undefined || rightEnd === undefined) return both;
  const startSeconds = Math.min(left.startSeconds ?? 0, right.startSeconds ?? 0);
  return { ...both, startSeconds, durationSeconds: Math.max(leftEnd, rightEnd) - startSeconds };
}

/** The left side is the first one, unless the names of both say otherwise. */
function inOrderOfSides(first: ProbedStream, second: ProbedStream): [ProbedStream, ProbedStream] {
  return rightName.test(first.title ?? '') && leftName.test(second.title ?? '')
    ? [second, first]
    : [first, second];
}

/** True for two mono tracks of one recording, of which nothing says that viewers choose between them. */
function areSides(left: ProbedStream, right: ProbedStream): boolean {
  const isSame = (key: 'codec' | 'sampleRate' | 'language') => left[key] === right[key];
  const isClose = (one = 0, other = 0, max = 0) => Math.abs(one - other) <= max;
  return (
    left.channels === 1 &&
    right.channels === 1 &&
    isSame('codec') &&
    isSame('sampleRate') &&
    isSame('language') &&
    isClose(left.startSeconds, right.startSeconds, maxSideOffsetSeconds) &&
    isClose(endOf(left), endOf(right), overhangSeconds) &&
    isChannelName(left) &&
    isChannelName(right)
  );
}

function isChannelName({ title = '', isForVisuallyImpaired, isCommentary }: ProbedStream): boolean {
  const isForSome = isForVisuallyImpaired === true || isCommentary === true;
  return channelName.test(title.slice(0, 40).trim()) && !isForSome;
}

/** The renditions in stereo, then those in 5.1. */
export function planAudio(streams: readonly SourceAudioStream[], context: AudioContext): AudioPlan[] {
  const plans = (isSurround: boolean) =>
    streams.flatMap((stream, index) =>
      isSurround && !hasSurround(stream) ? [] : [planRendition(stream, index + 1, isSurround, context)],
    );
  return [...plans(false), ...plans(true)];
}

export function sourceAudioTracks(streams: readonly ProbedStream[]): SourceAudioTrack[] {
  return streams.map((stream, index) => ({
    track: index + 1,
    language: languageOf(stream),
    name: trackTitle(stream.title),
    codec: stream.codec,
    channels: stream.channels ?? 0,
    isDescription: stream.isForVisuallyImpaired === true,
  }));
}

function endOf(stream: ProbedStream | undefined): number | undefined {
  const { durationSeconds, startSeconds = 0 } = stream ?? {};
  return durationSeconds === undefined ? undefined : startSeconds + durationSeconds;
}

function planRendition(
  stream: SourceAudioStream,
  track: number,
  isSurround: boolean,
  { video, request, isWhole, durationSeconds }: AudioContext,
): AudioPlan {
  const { codec, profile = 'unknown', channels = 0, sampleRate = 0 } = stream;
  const videoEnds = isWhole ? endOf(video) : undefined;
  const isShort = videoEnds !== undefined && (endOf(stream) ?? videoEnds) < videoEnds - overhangSeconds;
  const hasWantedChannels = isSurround
    ? channels === passthroughSurroundChannels
    : channels === 1 || channels === 2;
  const reason = (() => {
    if (request.canPassthroughAudio === false) return 'not wanted';
    if (!isWhole) return 'only a part is wanted';
    if (stream.rightIndex !== undefined) return 'two mono tracks';
    if (codec !== 'aac') return `codec ${codec}`;
    if (!passthroughProfiles.includes(profile)) return `profile ${profile}`;
    if (!hasWantedChannels) return `${channels} channels`;
    if (isShort) return 'ends before the video';
    return sampleRate < 8_000 || sampleRate > 48_000 ? `${sampleRate} samples a second` : undefined;
  })();
  const starts = [video?.startSeconds, stream.startSeconds].filter(start => start !== undefined);
  const since = (end: number) => end - (starts.length === 0 ? 0 : Math.min(...starts));
  const audioEnds = isWhole ? endOf(stream) : undefined;
  // Joined up to the end of the shorter one, unless both are filled up.
  const joinedUntil = audioEnds === undefined ? durationSeconds || undefined : since(audioEnds);
  const sidesUntil = stream.rightIndex === undefined ? undefined : joinedUntil;
  return {
    name: audioRenditionName({ track, isSurround }),
    track,
    index: stream.index,
    rightIndex: stream.rightIndex,
    isPassthrough: reason === undefined,
    reason,
    channels,
    isSurround,
    language: languageOf(stream),
    untilSeconds: isShort ? since(videoEnds) : sidesUntil,
  };
}

function hasSurround({ channels = 0 }: ProbedStream): boolean {
  return channels >= surroundChannels.min && channels <= surroundChannels.max;
}

function languageOf({ language }: ProbedStream): string | undefined {
  return language && canonicalLanguageTag(language) && language;
}

function isDecodableAudio({ kind, codec, sampleRate, channels }: ProbedStream): boolean {
  return kind === 'audio' && codec !== 'unknown' && sampleRate !== undefined && channels !== undefined;
}
