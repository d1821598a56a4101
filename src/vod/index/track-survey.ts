import type { ProgressiveMovie, ProgressiveTrack } from '../../media/cmaf/progressive-file.ts';
import { SampleCursor } from '../../media/cmaf/sample-tables.ts';
import { AppError } from '../../shared/errors.ts';
import type { TimeSlice } from '../../shared/scheduling/time-slice.ts';

/** Samples between two looks at the clock. */
export const SAMPLES_PER_YIELD = 1024;

/** Sync samples nearer to each other than this are one to us: files of nothing else have hundreds of thousands. */
const SYNC_DISTANCE_SECONDS = 0.25;

/** A video frame or an audio frame that lasts longer than this is a hole. */
const MAX_VIDEO_FRAME_SECONDS = 10;
const MAX_AUDIO_FRAME_SECONDS = 0.5;

/** Maximum length of a track. The sample tables of a small file can claim years. */
const MAX_TRACK_SECONDS = 24 * 3600 + 60;

/** Sync samples in their order, a column for each field. */
export interface SyncPoints {
  /** Of the sample, from 0. */
  readonly numbers: number[];
  readonly ptsTicks: number[];
  readonly positions: number[];
  readonly sizes: number[];
}

/** Which samples of a track are to be played, and when. Times are in the track's own ticks. */
export interface TrackSurvey {
  /** The first and, exclusive, the last sample. An audio frame that is only needed to decode the next one is counted in. */
  readonly first: number;
  readonly end: number;
  /** Presentation time of the first of them, and the end of the one presented last. */
  readonly startTicks: number;
  readonly endTicks: number;
  /** The lowest composition offset of them, 0 or less. */
  readonly minOffsetTicks: number;
  /** Of video, those to begin a segment with: the first is the sample `first`. */
  readonly syncs: SyncPoints;
}

/** A track that cannot be carried; `message` is a part of a sentence. */
export function refusal(why: string): AppError {
  return new AppError('media-refused', why);
}

/**
 * When, in seconds of the file's time, the first frame of a track is presented.
 *
 * @throws AppError `media-refused` or `media-malformed`
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

/** The edit of a track. @throws AppError `media-refused` when there is more than one */
export function editOf(track: ProgressiveTrack) {
  if (track.edit === undefined) throw refusal('is put together of several pieces (edit list)');
  return track.edit;
}

/**
 * Finds what an edit leaves of a video track.
 *
 * @throws AppError `media-refused` when that cannot be had by leaving out samples, `media-malformed`
 */
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
  let endTicks = 0;
  let minOffsetTicks = 0;
  while (cursor.next()) {
    if (cursor.number % SAMPLES_PER_YIELD === 0 && slice.isOver) await slice.next();
    const pts = cursor.ptsTicks;
    checkDuration(track, cursor, MAX_VIDEO_FRAME_SECONDS);
    if (cursor.number === 0 && !cursor.isSync) throw refusal('does not begin with a keyframe');
    if (pts < edit.least) {
      if (first !== -1) throw refusal('shows frames before its beginning (edit list)');
      continue;
    }
    if (first === -1) {
      // What is left out before must not be needed, and no moment of what is shown may lack its frame.
      if (!cursor.isSync || (cursor.number > 0 && pts > edit.least + 2 * edit.tolerance)) {
        throw refusal('begins between two keyframes (edit list)');
      }
      first = cursor.number;
      startTicks = pts;
    }
    // A frame that begins within the last tick of the movie is shown: an edit ends there where a last frame has no duration.
    if (pts >= edit.endTicks) continue;
    if (cursor.number > end && end > 0) throw refusal('ends among frames that need each other (edit list)');
    end = cursor.number + 1;
    endTicks = Math.max(endTicks, pts + cursor.durationTicks);
    checkLength(track, endTicks - startTicks);
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
  return { first, end, startTicks, endTicks, minOffsetTicks, syncs };
}

/**
 * Finds what an edit leaves of an audio track.
 *
 * @throws AppError `media-refused`, `media-malformed`
 */
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
  let minOffsetTicks = 0;
  while (cursor.next()) {
    if (cursor.number % SAMPLES_PER_YIELD === 0 && slice.isOver) await slice.next();
    const pts = cursor.ptsTicks;
    checkDuration(track, cursor, MAX_AUDIO_FRAME_SECONDS);
    if (first === -1 && pts + cursor.durationTicks > edit.least + edit.tolerance) {
      // The frame before it is half of what its first samples are decoded from.
      first = Math.max(0, cursor.number - 1);
      startTicks = cursor.number === 0 ? pts : previousPts;
    }
    previousPts = pts;
    if (pts > edit.most) break;
    if (end > 0 && Math.abs(pts - endTicks) > MAX_AUDIO_FRAME_SECONDS * track.timescale) {
      throw refusal(`jumps by ${Math.round((pts - endTicks) / track.timescale)} s`);
    }
    end = cursor.number + 1;
    endTicks = pts + cursor.durationTicks;
    if (first !== -1) checkLength(track, endTicks - startTicks);
    minOffsetTicks = Math.min(minOffsetTicks, cursor.compositionOffsetTicks);
  }
  if (first === -1 || end <= first) throw refusal('is empty');
  const syncs = { numbers: [], ptsTicks: [], positions: [], sizes: [] };
  return { first, end, startTicks, endTicks, minOffsetTicks, syncs };
}

/** Presentation times, in the track's ticks, that the edit lets through; its own times are rounded to ticks of the movie. */
function windowOf(movie: ProgressiveMovie, track: ProgressiveTrack) {
  const { mediaTimeTicks, durationTicks } = editOf(track);
  const movieTick = track.timescale / movie.timescale;
  const tolerance = Math.max(1, movieTick);
  const endTicks =
    durationTicks === undefined ? Number.POSITIVE_INFINITY : mediaTimeTicks + durationTicks * movieTick;
  return {
    tolerance,
    least: mediaTimeTicks > 0 ? mediaTimeTicks - tolerance : Number.NEGATIVE_INFINITY,
    most: endTicks - tolerance,
    endTicks,
  };
}

function checkLength(track: ProgressiveTrack, durationTicks: number): void {
  if (durationTicks > MAX_TRACK_SECONDS * track.timescale) throw refusal('is longer than 24 hours');
}

function checkDuration(track: ProgressiveTrack, cursor: SampleCursor, mostSeconds: number): void {
  if (cursor.durationTicks > mostSeconds * track.timescale) {
    throw refusal(`has a hole of ${Math.round(cursor.durationTicks / track.timescale)} s`);
  }
  if (cursor.durationTicks === 0 && cursor.number !== track.samples.sampleCount - 1) {
    throw refusal('has frames without duration');
  }
}
