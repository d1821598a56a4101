import { type FileHandle, open, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  type ProgressiveMovie,
  type ProgressiveTrack,
  type ReadAt,
  readProgressiveMovie,
} from '../../media/cmaf/progressive-file.ts';
import { startsWithIdr } from '../../media/codecs/starts-with-idr.ts';
import { AppError } from '../../shared/errors.ts';
import { TimeSlice } from '../../shared/scheduling/time-slice.ts';
import { readFully } from '../../storage/read-fully.ts';
import { cutAtKeyframes } from './cut-at-keyframes.ts';
import { checkPictureFormats, checkPictureOrder } from './picture-formats.ts';
import { type IndexedRendition, MAX_LATE_VIDEO_SECONDS, TIMELINE_START_SECONDS } from './rendition.ts';
import { boundariesOf, boundaryAfter } from './segment-boundaries.ts';
import { writeTrackIndex } from './track-index.ts';
import { presentedStartSeconds, refusal, surveyAudio, surveyVideo } from './track-survey.ts';

/** Players stop at a longer gap at the start. Later audio is encoded, with silence before it. */
const MAX_LATE_AUDIO_SECONDS = 0.1;
const MAX_SLICE_MS = 8;

export interface IndexProgressiveOptions {
  readonly folder: string;
  readonly mediaName?: string;
  readonly segmentSeconds?: number;
  readonly tracks?: { readonly video?: number | undefined; readonly audio?: number | undefined };
  readonly language?: string | undefined;
  /** Further audio tracks, which are left out if they cannot be indexed. */
  readonly moreAudio?: readonly MoreAudio[];
  readonly maxMovieBytes?: number;
  /** Ignores ends of edits: in files that ffmpeg muxed, one may precede a frame without duration. */
  readonly ignoresEditEnds?: boolean;
  readonly signal: AbortSignal;
}

export interface MoreAudio {
  /** Name of the rendition. */
  readonly name: string;
  readonly index: number;
  readonly language: string | undefined;
}

/** The result: at least one rendition, or the reason for none as a sentence. */
export type IndexProgressiveResult =
  | {
      readonly kind: 'indexed';
      readonly video?: IndexedRendition;
      readonly audio?: IndexedRendition;
      /** Further audio renditions by name. */
      readonly moreAudio?: Readonly<Record<string, IndexedRendition>>;
      readonly videoReason?: string;
      readonly audioReason?: string;
    }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Makes an MP4 or MOV file playable without copying it: writes an index of its H.264 and AAC track. Other
 * tracks must be encoded. Both tracks begin at {@link TIMELINE_START_SECONDS}. @throws the signal's reason; a
 * system error when the file cannot be read or the folder not be written
 */
export async function indexProgressive(
  path: string,
  options: IndexProgressiveOptions,
): Promise<IndexProgressiveResult> {
  const handle = await open(path, 'r');
  try {
    return await indexFile(handle, basename(path), options);
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === undefined) throw error;
    return { kind: 'refused', reason: `The file must be encoded: ${reason}.` };
  } finally {
    await handle.close();
  }
}

async function indexFile(
  handle: FileHandle,
  ownName: string,
  options: IndexProgressiveOptions,
): Promise<IndexProgressiveResult> {
  const { folder, signal, mediaName = ownName, segmentSeconds = 4 } = options;
  signal.throwIfAborted();
  const { size: fileBytes } = await handle.stat();
  const readAt = readerOf(handle);
  const read = await readMovie(readAt, fileBytes, options.maxMovieBytes);
  const movie = options.ignoresEditEnds === true ? withoutEditEnds(read) : read;
  const videoTrack = chooseTrack(movie, 'video', options.tracks?.video);
  const audioTrack = chooseTrack(movie, 'audio', options.tracks?.audio);
  const starts = [videoTrack, audioTrack]
    .filter(track => track !== undefined)
    .map(track => startOf(movie, track, fileBytes));
  if (starts.length === 0) throw refusal('it has neither video nor audio');
  const moreTracks = placedTracks(movie, options.moreAudio ?? [], fileBytes);
  const common = {
    movie,
    fileBytes,
    mediaName,
    slice: new TimeSlice(MAX_SLICE_MS, signal),
    originSeconds: Math.min(...starts, ...moreTracks.map(({ startSeconds }) => startSeconds)),
    readAt,
    segmentSeconds,
    language: options.language,
  };
  const video = await attempt(videoTrack, join(folder, 'video.index'), indexVideo, common);
  const indexed = [video];
  const moreAudio: Record<string, IndexedRendition> = {};
  let audio: Attempt;
  try {
    const withVideo = { ...common, video: video.rendition };
    audio = await attempt(audioTrack, join(folder, 'audio.index'), indexAudio, withVideo);
    indexed.push(audio);
    for (const { track, name, language } of moreTracks) {
      const path = join(folder, `${name}.index`);
      const more = await attempt(track, path, indexAudio, { ...withVideo, language });
      indexed.push(more);
      if (more.rendition !== undefined) moreAudio[name] = more.rendition;
    }
  } catch (error) {
    for (const { rendition } of indexed)
      if (rendition !== undefined) await rm(rendition.file, { force: true });
    throw error;
  }
  if (video.rendition === undefined && audio.rendition === undefined) {
    throw refusal([video.reason, audio.reason].filter(reason => reason !== undefined).join(', '));
  }
  return {
    kind: 'indexed',
    video: video.rendition,
    audio: audio.rendition,
    ...(Object.keys(moreAudio).length === 0 ? {} : { moreAudio }),
    videoReason: video.reason,
    audioReason: audio.reason,
  };
}

/** Keeps tracks whose start is known. The others are encoded. */
function placedTracks(movie: ProgressiveMovie, wanted: readonly MoreAudio[], fileBytes: number) {
  return wanted.flatMap(more => {
    const track = chooseTrack(movie, 'audio', more.index);
    if (track === undefined) return [];
    try {
      return [{ ...more, track, startSeconds: presentedStartSeconds(movie, track, fileBytes) }];
    } catch (error) {
      if (reasonOf(error) === undefined) throw error;
      return [];
    }
  });
}

function withoutEditEnds(movie: ProgressiveMovie): ProgressiveMovie {
  const tracks = movie.tracks.map(track =>
    track.edit === undefined ? track : { ...track, edit: { ...track.edit, durationTicks: undefined } },
  );
  return { ...movie, tracks };
}

async function readMovie(
  readAt: ReadAt,
  fileBytes: number,
  maxMovieBytes: number | undefined,
): Promise<ProgressiveMovie> {
  try {
    return await readProgressiveMovie(readAt, fileBytes, maxMovieBytes);
  } catch (error) {
    const reason = reasonOf(error);
    throw reason === undefined ? error : refusal(`it ${reason}`);
  }
}

interface Common {
  readonly movie: ProgressiveMovie;
  readonly fileBytes: number;
  readonly mediaName: string;
  readonly slice: TimeSlice;
  readonly originSeconds: number;
  readonly readAt: ReadAt;
  readonly segmentSeconds: number;
  readonly language: string | undefined;
}

interface Attempt {
  readonly rendition?: IndexedRendition;
  readonly reason?: string;
}

async function attempt<C extends Common>(
  track: ProgressiveTrack | undefined,
  indexPath: string,
  index: (track: ProgressiveTrack, indexPath: string, common: C) => Promise<IndexedRendition>,
  common: C,
): Promise<Attempt> {
  if (track === undefined) return {};
  try {
    return { rendition: await index(track, indexPath, common) };
  } catch (error) {
    await rm(indexPath, { force: true });
    const reason = reasonOf(error);
    if (reason === undefined) throw error;
    return { reason: `its ${track.kind} ${reason}` };
  }
}

async function indexVideo(
  track: ProgressiveTrack,
  indexPath: string,
  common: Common,
): Promise<IndexedRendition> {
  const description = describedOf(track);
  const { movie, fileBytes, slice, originSeconds, readAt } = common;
  const survey = await surveyVideo(movie, track, fileBytes, slice);
  await checkPictureFormats(track, readAt, fileBytes, slice);
  await checkPictureOrder(track, readAt, fileBytes, slice);
  const { syncs } = survey;
  const lateSeconds = presentedStartSeconds(movie, track, fileBytes) - originSeconds;
  const leadTicks = lateSeconds > MAX_LATE_VIDEO_SECONDS ? Math.round(lateSeconds * track.timescale) : 0;
  const cuts = await cutAtKeyframes({
    syncs,
    timescale: track.timescale,
    startTicks: survey.startTicks - leadTicks,
    endTicks: survey.endTicks,
    segmentSeconds: common.segmentSeconds,
    canBegin: sync => startsWithIdr(readAt, syncs.positions[sync]!, syncs.sizes[sync]!, track.lengthBytes),
  });
  return writeTrackIndex(track, description, survey, indexPath, {
    ...common,
    leadTicks,
    cuts: {
      kind: 'samples',
      numbers: cuts.map(cut => syncs.numbers[cut]!),
      ptsTicks: cuts.map(cut => syncs.ptsTicks[cut]!),
    },
  });
}

async function indexAudio(
  track: ProgressiveTrack,
  indexPath: string,
  common: Common & { readonly video: IndexedRendition | undefined },
): Promise<IndexedRendition> {
  const { movie, fileBytes, slice, originSeconds, segmentSeconds, video, language } = common;
  const description = { ...describedOf(track), language };
  const lateSeconds = presentedStartSeconds(movie, track, fileBytes) - originSeconds;
  if (lateSeconds > MAX_LATE_AUDIO_SECONDS) {
    throw refusal(`begins ${lateSeconds.toFixed(2)} s after the video`);
  }
  const boundaries = video && boundariesOf(video);
  const survey = await surveyAudio(movie, track, fileBytes, slice);
  return writeTrackIndex(track, description, survey, indexPath, {
    ...common,
    leadTicks: 0,
    cuts: {
      kind: 'times',
      boundaryAt: index => boundaryAfter(index, boundaries, segmentSeconds),
    },
  });
}

/** Returns the start of a track, without which no track can be placed on the timeline. */
function startOf(movie: ProgressiveMovie, track: ProgressiveTrack, fileBytes: number): number {
  try {
    return presentedStartSeconds(movie, track, fileBytes);
  } catch (error) {
    const reason = reasonOf(error);
    throw reason === undefined ? error : refusal(`its ${track.kind} ${reason}`);
  }
}

function describedOf(track: ProgressiveTrack) {
  if (track.description === undefined) throw refusal(track.problem ?? 'cannot be passed through');
  return track.description;
}

function chooseTrack(
  movie: ProgressiveMovie,
  kind: 'video' | 'audio',
  wanted: number | undefined,
): ProgressiveTrack | undefined {
  const all = movie.tracks.filter(track => track.kind === kind);
  if (wanted !== undefined) return all.find(({ index }) => index === wanted);
  if (kind === 'audio') return all.find(({ isEnabled }) => isEnabled) ?? all[0];
  return all.find(({ description }) => description !== undefined) ?? all[0];
}

export function readerOf(handle: FileHandle): ReadAt {
  return (position, length) => readFully(handle, position, length);
}

function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof AppError)) return undefined;
  if (error.code === 'media-refused') return error.message;
  return error.code === 'media-malformed' ? `is damaged (${error.message})` : undefined;
}
