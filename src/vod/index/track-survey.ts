import type { ProgressiveMovie, ProgressiveTrack } from '../../media/cmaf/progressive-file.ts';
import { SampleCursor } from '../../media/cmaf/sample-cursor.ts';
import { AppError } from '../../shared/errors.ts';
import type { TimeSlice } from '../../shared/scheduling/time-slice.ts';

export const SAMPLES_PER_YIELD = 1024;

/** Closer sync samples are skipped: all-intra files have hundreds of thousands. */
const SYNC_DISTANCE_SECONDS = 0.25;

const MAX_VIDEO_FRAME_SECONDS = 10;
const MAX_AUDIO_FRAME_SECONDS = 0.5;

/** The sample tables of a small file can state years. */
const MAX_TRACK_SECONDS = 24 * 3600 + 60;

export interface SyncPoints {
  readonly numbers: number[];
  readonly ptsTicks: number[];
  readonly positions: number[];
  readonly sizes: number[];
}

/** The samples that are played. Times are in ticks of the track. */
export interface TrackSurvey {
  /** End exclusive. Includes an audio frame that is only needed to decode the next one. */
  readonly first: number;
  readonly end: number;
  /** Start of the first frame, and end of the last one presented. */
  readonly startTicks: number;
  readonly endTicks: number;
  /** Never 0. */
  readonly lastDurationTicks: number;
  readonly minOffsetTicks: number;
  /** Candidates for segment starts of video, beginning with the sample `first`. */
  readonly syncs: SyncPoints;
}

export function refusal(why: string): AppError {
  return new AppError('media-refused', why);
}

/**
 * Returns the start of the presentation in the file's time. @throws AppError `media-refused` or `media-malformed`
 */
export function presentedStartSeconds(
  movie: ProgressiveMovie,
  track: ProgressiveTrack,
  fileBytes: number,
): number {
  const cursor = new SampleCursor(track.samples, fileBytes);
  if (!cursor.next()) throw refusal('has no samples');
  const { emptyTicks, mediaTimeTicks } = editOf(track);
  const first =
    mediaTimeTicks > 0 ? Math.max(mediaTimeTicks, cursor.ptsTicks) - mediaTimeTicks : cursor.ptsTicks;
  return emptyTicks / movie.timescale + first / track.timescale;
}

/** @throws AppError `media-refused` when the track has several edits */
export function editOf(track: ProgressiveTrack) {
  if (track.edit === undefined) throw refusal('consists of several pieces (edit list)');
  return track.edit;
}

/** @throws AppError `media-refused` when the edit cuts between keyframes, `media-malformed` */
export async function surveyVideo(
  movie: ProgressiveMovie,
  track: ProgressiveTrack,
  fileBytes: number,
  slice: TimeSlice,
): Promise<TrackSurvey> {
  const edit = windowOf(movie, track);
  const cursor = new SampleCursor(track.samples, fileBytes);
  const syncs: SyncPoints = { numbers: [], ptsTicks: [], positions: [], sizes: [] };
  const syncDistance = SYNC_DISTANCE_SECONDS * track.timescale;
  let first = -1;
  let end = 0;
  let startTicks = 0;
  let lastTicks = 0;
  let lastDurationTicks = 0;
  let minOffsetTicks = 0;
  while (cursor.next()) {
    if (cursor.number % SAMPLES_PER_YIELD === 0 && slice.isOver) await slice.next();
    const pts = cursor.ptsTicks;
    checkDuration(track, cursor, MAX_VIDEO_FRAME_SECONDS);
    if (cursor.number === 0 && !cursor.isSync) throw refusal('does not begin with a keyframe');
    if (pts < edit.minTicks) {
      if (first !== -1) throw refusal('shows frames before its start (edit list)');
      continue;
    }
    if (first === -1) {
      // The first frame must not depend on removed ones, and must cover the start of the edit.
      if (!cursor.isSync || (cursor.number > 0 && pts > edit.minTicks + 2 * edit.tolerance)) {
        throw refusal('begins between two keyframes (edit list)');
      }
      first = cursor.number;
      startTicks = pts;
      lastTicks = pts;
    }
    // Includes a frame in the last tick of the movie: the edit ends there if the last frame has no duration.
    if (pts >= edit.endTicks) continue;
    if (cursor.number > end && end > 0) throw refusal('ends among frames that need each other (edit list)');
    end = cursor.number + 1;
    lastTicks = Math.max(lastTicks, pts);
    lastDurationTicks = durationOf(track, cursor, lastDurationTicks);
    checkLength(track, lastTicks + lastDurationTicks - startTicks);
    minOffsetTicks = Math.min(minOffsetTicks, cursor.compositionOffsetTicks);
    const last = syncs.ptsTicks.at(-1);
    if (cursor.isSync && (last === undefined || pts - last >= syncDistance)) {
      syncs.numbers.push(cursor.number);
      syncs.ptsTicks.push(pts);
      syncs.positions.push(cursor.position);
      syncs.sizes.push(cursor.sizeBytes);
    }
  }
  if (first === -1 || end <= first) throw refusal('shows no frame');
  // The decode interval of a reordered frame is not the time that it is shown. Only the last sample has its own duration.
  const endTicks = lastTicks + lastDurationTicks;
  const isCut = edit.endTicks > lastTicks && edit.endTicks < endTicks - edit.tolerance;
  return {
    first,
    end,
    startTicks,
    endTicks: isCut ? Math.round(edit.endTicks) : endTicks,
    lastDurationTicks,
    minOffsetTicks,
    syncs,
  };
}

/** @throws AppError `media-refused`, `media-malformed` */
export async function surveyAudio(
  movie: ProgressiveMovie,
  track: ProgressiveTrack,
  fileBytes: number,
  slice: TimeSlice,
): Promise<TrackSurvey> {
  const edit = windowOf(movie, track);
  const cursor = new SampleCursor(track.samples, fileBytes);
  let first = -1;
  let end = 0;
  let startTicks = 0;
  let previousPts = 0;
  let endTicks = 0;
  let lastDurationTicks = 0;
  let minOffsetTicks = 0;
  while (cursor.next()) {
    if (cursor.number % SAMPLES_PER_YIELD === 0 && slice.isOver) await slice.next();
    const pts = cursor.ptsTicks;
    checkDuration(track, cursor, MAX_AUDIO_FRAME_SECONDS);
    if (first === -1 && pts + cursor.durationTicks > edit.minTicks + edit.tolerance) {
      // Decoding the first samples needs the frame before.
      first = Math.max(0, cursor.number - 1);
      startTicks = cursor.number === 0 ? pts : previousPts;
    }
    previousPts = pts;
    if (pts > edit.lastTicks) break;
    if (end > 0 && Math.abs(pts - endTicks) > MAX_AUDIO_FRAME_SECONDS * track.timescale) {
      throw refusal(`jumps by ${Math.round((pts - endTicks) / track.timescale)} s`);
    }
    end = cursor.number + 1;
    lastDurationTicks = durationOf(track, cursor, lastDurationTicks);
    endTicks = pts + lastDurationTicks;
    if (first !== -1) checkLength(track, endTicks - startTicks);
    minOffsetTicks = Math.min(minOffsetTicks, cursor.compositionOffsetTicks);
  }
  if (first === -1 || end <= first) throw refusal('is empty');
  const syncs = { numbers: [], ptsTicks: [], positions: [], sizes: [] };
  return { first, end, startTicks, endTicks, lastDurationTicks, minOffsetTicks, syncs };
}

/** Returns the duration of a frame. Some muxers write none for the last one. */
function durationOf(track: ProgressiveTrack, cursor: SampleCursor, previousTicks: number): number {
  return cursor.durationTicks || previousTicks || Math.ceil(track.timescale / 25);
}

/** Presentation times that an edit plays, in ticks of the track. Edits are rounded to ticks of the movie. */
function windowOf(movie: ProgressiveMovie, track: ProgressiveTrack) {
  const { mediaTimeTicks, durationTicks } = editOf(track);
  const movieTick = track.timescale / movie.timescale;
  const tolerance = Math.max(1, movieTick);
  const endTicks =
    durationTicks === undefined ? Number.POSITIVE_INFINITY : mediaTimeTicks + durationTicks * movieTick;
  return {
    tolerance,
    minTicks: mediaTimeTicks > 0 ? mediaTimeTicks - tolerance : Number.NEGATIVE_INFINITY,
    lastTicks: endTicks - tolerance,
    endTicks,
  };
}

function checkLength(track: ProgressiveTrack, durationTicks: number): void {
  if (durationTicks > MAX_TRACK_SECONDS * track.timescale) throw refusal('is longer than 24 hours');
}

function checkDuration(track: ProgressiveTrack, cursor: SampleCursor, maxSeconds: number): void {
  if (cursor.durationTicks > maxSeconds * track.timescale) {
    throw refusal(`has a gap of ${Math.round(cursor.durationTicks / track.timescale)} s`);
  }
  if (cursor.durationTicks === 0 && cursor.number !== track.samples.sampleCount - 1) {
    throw refusal('has frames without duration');
  }
}
