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
import { cutAtKeyframes } from './cut-at-keyframes.ts';
import { type IndexedRendition, TIMELINE_START_SECONDS } from './rendition.ts';
import { boundariesOf, boundaryAfter } from './segment-boundaries.ts';
import { writeTrackIndex } from './track-index.ts';
import { presentedStartSeconds, refusal, surveyAudio, surveyVideo } from './track-survey.ts';

/** Sound that begins later than this would leave a hole that players do not step over; it is encoded with silence in front. */
const MAX_LATE_AUDIO_SECONDS = 0.1;
/** A picture that begins later has its first frame shown from the beginning. */
const MAX_LATE_VIDEO_SECONDS = 0.1;
/** Longest that indexing holds up other work of the process. */
const MAX_SLICE_MS = 8;

/** How a file is to be indexed. */
export interface IndexProgressiveOptions {
  /** Where `video.index` and `audio.index` are written; what they are of stands beside them in the end, or at `mediaName`. */
  readonly folder: string;
  /** Path of the file from where the indexes will be in the end; its own name if not given. */
  readonly mediaName?: string;
  /** Default 4. */
  readonly segmentSeconds?: number;
  /** Places of the tracks to take, counted among all tracks of the file from 0 (ffprobe's stream index); chosen here where not given. */
  readonly tracks?: { readonly video?: number | undefined; readonly audio?: number | undefined };
  /** Language of the audio, as the source names it. */
  readonly language?: string | undefined;
  /** Maximum size of the `moov`; 128 MiB if not given. */
  readonly maxMovieBytes?: number;
  /** Plays tracks to their last frame. For files that ffmpeg has put together: it may let an edit end before a frame that has no duration. */
  readonly ignoresEditEnds?: boolean;
  readonly signal: AbortSignal;
}

/** What came of it: at least one rendition, or the reason why there is none, as a sentence. */
export type IndexProgressiveResult =
  | {
      readonly kind: 'indexed';
      readonly video?: IndexedRendition;
      readonly audio?: IndexedRendition;
      /** Why a track that is there was not indexed. */
      readonly videoReason?: string;
      readonly audioReason?: string;
    }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Makes a progressive MP4 or MOV file playable as it is: H.264 and AAC are not copied, each of the two gets an index with the heads of its
 * segments and where in the file their samples lie. A track that cannot be carried is left to be encoded.
 *
 * The first presented instant of the two tracks together is at {@link TIMELINE_START_SECONDS} of both.
 *
 * @throws the signal's reason; a system error when the file cannot be read or the folder not be written
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
    return { kind: 'refused', reason: `The file cannot be played as it is: ${reason}.` };
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
  if (starts.length === 0) throw refusal('it has neither picture nor sound');
  const common = {
    movie,
    fileBytes,
    mediaName,
    slice: new TimeSlice(MAX_SLICE_MS, signal),
    originSeconds: Math.min(...starts),
    readAt,
    segmentSeconds,
    language: options.language,
  };
  const video = await attempt(videoTrack, join(folder, 'video.index'), indexVideo, common);
  let audio: Attempt;
  try {
    audio = await attempt(audioTrack, join(folder, 'audio.index'), indexAudio, {
      ...common,
      picture: video.rendition,
    });
  } catch (error) {
    if (video.rendition !== undefined) await rm(video.rendition.file, { force: true });
    throw error;
  }
  if (video.rendition === undefined && audio.rendition === undefined) {
    throw refusal([video.reason, audio.reason].filter(reason => reason !== undefined).join(', '));
  }
  return {
    kind: 'indexed',
    ...(video.rendition === undefined ? {} : { video: video.rendition }),
    ...(audio.rendition === undefined ? {} : { audio: audio.rendition }),
    ...(video.reason === undefined ? {} : { videoReason: video.reason }),
    ...(audio.reason === undefined ? {} : { audioReason: audio.reason }),
  };
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

/** What indexing a track needs beside the track. */
interface Common {
  readonly movie: ProgressiveMovie;
  readonly fileBytes: number;
  readonly mediaName: string;
  readonly slice: TimeSlice;
  /** The first presented instant of both tracks, in the time of the file. */
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
    return { reason: `its ${nameOf(track)} ${reason}` };
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
  common: Common & { readonly picture: IndexedRendition | undefined },
): Promise<IndexedRendition> {
  const { movie, fileBytes, slice, originSeconds, segmentSeconds, picture, language } = common;
  const description = { ...describedOf(track), language };
  const lateSeconds = presentedStartSeconds(movie, track, fileBytes) - originSeconds;
  if (lateSeconds > MAX_LATE_AUDIO_SECONDS) {
    throw refusal(`begins ${lateSeconds.toFixed(2)} s after the picture`);
  }
  const boundaries = picture === undefined ? undefined : boundariesOf(picture);
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

/** A track of which it is not known when it begins leaves no track its place. */
function startOf(movie: ProgressiveMovie, track: ProgressiveTrack, fileBytes: number): number {
  try {
    return presentedStartSeconds(movie, track, fileBytes);
  } catch (error) {
    const reason = reasonOf(error);
    throw reason === undefined ? error : refusal(`its ${nameOf(track)} ${reason}`);
  }
}

function nameOf({ kind }: ProgressiveTrack): string {
  return kind === 'video' ? 'picture' : 'sound';
}

function describedOf(track: ProgressiveTrack) {
  if (track.description === undefined) throw refusal(track.problem ?? 'cannot be carried');
  return track.description;
}

/** The one that was asked for; else the first that can be carried, among audio the first that is not switched off; else the first. */
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

/** Reads from an open file. */
export function readerOf(handle: FileHandle): ReadAt {
  return async (position, length) => {
    const bytes = Buffer.allocUnsafeSlow(length);
    let done = 0;
    while (done < length) {
      const { bytesRead } = await handle.read(bytes, done, length - done, position + done);
      if (bytesRead === 0) return bytes.subarray(0, done);
      done += bytesRead;
    }
    return bytes;
  };
}

/** Why media is not carried; undefined for any other error. */
function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof AppError)) return undefined;
  if (error.code === 'media-refused') return error.message;
  return error.code === 'media-malformed' ? `is broken (${error.message})` : undefined;
}
