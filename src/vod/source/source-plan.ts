import type { SourceClock } from '../../ffmpeg/arguments/encode-options.ts';
import type { ProbedFile, ProbedStream } from '../../ffmpeg/media-tools.ts';
import { discontinuousFormats } from '../../ffmpeg/probe/clock-survey.ts';
import { AppError } from '../../shared/errors.ts';
import { planSubtitles, type SubtitlePlan, subtitleMetadata } from '../captions/subtitle-plan.ts';
import {
  type AudioPlan,
  audioStreamsOf,
  planAudio,
  type SourceAudioTrack,
  sourceAudioTracks,
} from './audio-plan.ts';
import { type SourceMetadata, sourceMetadata } from './source-metadata.ts';
import { overhangSeconds, type SourcePart, type SourceRequest } from './source-request.ts';
import { displayResolutionOf, planVideo, type VideoPlan } from './video-plan.ts';

export interface PlannedSource {
  readonly kind: 'planned';
  readonly video: VideoPlan | undefined;
  /** The default track in stereo. */
  readonly audio: AudioPlan | undefined;
  /** All renditions, the default one first. */
  readonly audioRenditions: readonly AudioPlan[];
  readonly audioTracks: readonly SourceAudioTrack[];
  readonly subtitles: readonly SubtitlePlan[];
  readonly durationSeconds: number;
  readonly part: SourcePart | undefined;
  /** Begins with the first frame of {@link timingIndexes}: copies begin there, and so do encodes. */
  readonly clock: SourceClock;
  readonly sourceMetadata: SourceMetadata;
  readonly bytes: number;
}

type SourcePlan = { readonly kind: 'refused'; readonly reason: string } | PlannedSource;

const maxSourceSeconds = 1440 * 60;
/** Decoding a frame with more pixels takes half a gigabyte. */
const maxPixels = 64 * 1024 * 1024;
const maxSide = 16_384;

/** Uses the default tracks, or else the first decodable ones. Cover images are not video. */
export function planSource(file: ProbedFile, request: SourceRequest): SourcePlan {
  const video = pickDefault(file.streams.filter(isDecodableVideo));
  const audioStreams = audioStreamsOf(file.streams, request.joinsMono);
  const [audio] = audioStreams;
  const refusal = refusalOf(file, video, audio, request);
  if (refusal !== undefined) return { kind: 'refused', reason: refusal };
  const wholeSeconds = lengthOf(file, video, audio);
  const part = partOf(wholeSeconds, request);
  const isWhole = part === undefined;
  const durationSeconds =
    part?.durationSeconds ?? Math.max(0, (wholeSeconds ?? 0) - (part?.startSeconds ?? 0));
  const subtitles = planSubtitles(file.streams, [request.language, audio?.language]);
  const audioRenditions = planAudio(audioStreams, { video, request, isWhole, durationSeconds });
  const planned = new Set([video, ...audioStreams]);
  return {
    kind: 'planned',
    clock: clockOf(file, planned),
    video: video === undefined ? undefined : planVideo(video, file, request, isWhole),
    audio: audioRenditions[0],
    audioRenditions,
    audioTracks: sourceAudioTracks(audioStreams),
    subtitles,
    durationSeconds,
    part,
    sourceMetadata: {
      ...sourceMetadata(file, video, audio, wholeSeconds === undefined ? undefined : durationSeconds),
      ...(subtitles.length === 0 ? {} : { subtitles: subtitleMetadata(file.streams, subtitles) }),
      ...(video?.hasClosedCaptions === true ? { closedCaptions: true } : {}),
    },
    bytes: file.bytes,
  };
}

/** @throws AppError `media-refused` when the source cannot be used */
export function planUsableSource(file: ProbedFile, request: SourceRequest): PlannedSource {
  const plan = planSource(file, request);
  if (plan.kind === 'planned') return plan;
  throw new AppError('media-refused', plan.reason, { details: { detail: plan.reason } });
}

/** Indexes of the streams of which the earliest begins the video. */
export function timingIndexes({ video, audioRenditions }: PlannedSource): number[] {
  const audio = audioRenditions.flatMap(({ index, rightIndex }) => [index, rightIndex ?? index]);
  return [...(video === undefined ? [] : [video.index]), ...new Set(audio)];
}

function clockOf(
  { format, containerStartSeconds, steadyStartSeconds }: ProbedFile,
  planned: ReadonlySet<ProbedStream | undefined>,
): SourceClock {
  if (steadyStartSeconds !== undefined) {
    const starts = [...planned].flatMap(stream => steadyStartSeconds.get(stream?.index ?? -1) ?? []);
    if (starts.length > 0) return { leadSeconds: Math.min(...starts), isSteady: true };
  }
  return { leadSeconds: leadOf(format, containerStartSeconds, planned), isSteady: false };
}

function leadOf(
  format: string,
  containerStartSeconds: number | undefined,
  planned: ReadonlySet<ProbedStream | undefined>,
): number {
  if (containerStartSeconds === undefined || discontinuousFormats.includes(format)) return 0;
  // Audio before 0 is only for decoders.
  const starts = [...planned].flatMap(stream => {
    const { kind, startSeconds } = stream ?? {};
    if (startSeconds === undefined) return [];
    return kind === 'audio' ? Math.max(0, startSeconds) : startSeconds;
  });
  return starts.length === 0 ? 0 : Math.max(0, Math.min(...starts) - containerStartSeconds);
}

function refusalOf(
  file: ProbedFile,
  video: ProbedStream | undefined,
  audio: ProbedStream | undefined,
  { clip }: SourceRequest,
): string | undefined {
  if (video === undefined && audio === undefined) {
    return 'The file contains no video or audio that can be decoded.';
  }
  // A video in an unknown format must not become audio only.
  if (video === undefined && file.streams.some(stream => isVideo(stream) && stream.codec === 'unknown')) {
    return 'The video is in a format that cannot be decoded.';
  }
  if (video !== undefined) {
    const { width = 0, height = 0 } = video;
    const display = displayResolutionOf(video);
    if (width * height > maxPixels || Math.max(width, height, display.width, display.height) > maxSide) {
      return `The video resolution is too high: ${width} x ${height} pixels.`;
    }
  }
  const seconds = lengthOf(file, video, audio);
  if (seconds !== undefined && seconds <= 0) return 'The duration of the file is zero.';
  if (seconds !== undefined && seconds >= maxSourceSeconds) {
    return 'The video must be shorter than 1440 minutes.';
  }
  if (clip === undefined) return undefined;
  if (seconds !== undefined && clip.startMs / 1000 >= seconds) {
    return 'The clip begins after the end of the source.';
  }
  return clip.endMs !== undefined && clip.endMs <= clip.startMs
    ? 'The clip ends before it begins.'
    : undefined;
}

function isVideo({ kind, isCoverImage }: ProbedStream): boolean {
  return kind === 'video' && !isCoverImage;
}

function isDecodableVideo(stream: ProbedStream): boolean {
  const { codec, width = 0, height = 0 } = stream;
  return isVideo(stream) && codec !== 'unknown' && width > 0 && height > 0;
}

function lengthOf(
  file: ProbedFile,
  video: ProbedStream | undefined,
  audio: ProbedStream | undefined,
): number | undefined {
  return file.durationSeconds ?? video?.durationSeconds ?? audio?.durationSeconds;
}

function partOf(
  wholeSeconds: number | undefined,
  { clip, maxSeconds }: SourceRequest,
): SourcePart | undefined {
  const startSeconds = (clip?.startMs ?? 0) / 1000;
  const remaining = (wholeSeconds ?? Number.POSITIVE_INFINITY) - startSeconds;
  const requested = clip?.endMs === undefined ? Number.POSITIVE_INFINITY : clip.endMs / 1000 - startSeconds;
  // A small overhang is not a reason to encode the source.
  const allowed =
    maxSeconds === undefined || remaining <= maxSeconds + overhangSeconds
      ? Number.POSITIVE_INFINITY
      : maxSeconds;
  const durationSeconds = Math.min(requested, allowed);
  if (durationSeconds < remaining) return { startSeconds, durationSeconds };
  return startSeconds === 0 ? undefined : { startSeconds, durationSeconds: undefined };
}

function pickDefault(streams: readonly ProbedStream[]): ProbedStream | undefined {
  return streams.find(({ isDefault }) => isDefault) ?? streams[0];
}
