import { SampleColumns, writeFragmentHeader } from '../../media/cmaf/fragment-header.ts';
import type { FragmentedMovie } from '../../media/cmaf/fragmented-file.ts';
import type { LocatedSample } from '../../media/cmaf/movie-fragment.ts';
import { AppError } from '../../shared/errors.ts';
import { TIMELINE_START_SECONDS } from './rendition.ts';
import { boundaryAfter, type SegmentBoundaries } from './segment-boundaries.ts';
import { SliceList } from './segment-record.ts';

/** What an AAC encoder puts in front of the first sound, in samples, where the file does not say. ffmpeg's own does so. */
const AAC_PRIMING_SAMPLES = 1024;

/** Edit lists have milliseconds: what is nearer than that to where a track ought to begin is there. */
const EDIT_ROUNDING_SECONDS = 0.002;

/** A picture that begins later has its first frame shown from the beginning. */
const MAX_LATE_VIDEO_SECONDS = 0.1;

/** A keyframe that is half a millisecond early is not early. */
const ROUNDING_SECONDS = 0.0005;

/** Frames that wait until it is known where the segments of the other rendition begin: hours of sound. */
const MAX_WAITING_SAMPLES = 1_000_000;
/** Maximum number of samples that one call assembles: a few milliseconds of work. */
const MAX_SAMPLES_PER_CALL = 25_000;

/** How fragments become segments. */
export interface AssemblyOptions {
  readonly segmentSeconds: number;
  readonly boundaries: SegmentBoundaries | undefined;
  /** Time in the file of the source's first presented instant. */
  readonly originSeconds: number;
  /** When the first frame is presented, since that instant; undefined: as the file says, or else as is usual. */
  readonly startSeconds: number | undefined;
  /** Gets each segment: its duration, what is sent first, and where the rest lies. `slices` is good during the call only. */
  readonly onSegment: (durationTicks: number, head: Buffer, slices: SliceList, sliceBytes: number) => void;
}

/**
 * Puts the samples of fragments together to segments on the timeline of all renditions. Video is cut where a fragment begins, sound at any
 * frame.
 */
export class SegmentAssembler {
  readonly #movie: FragmentedMovie;
  readonly #options: AssemblyOptions;
  /** Samples whose segment is not known yet; `isJoint` where a fragment begins. */
  #waiting: { readonly sample: LocatedSample; readonly isJoint: boolean }[] = [];
  /** What is added to a time of the file to have that of the rendition; undefined before the first sample. */
  #shift: number | undefined;
  /** Presentation time at which the first segment begins. */
  #firstTicks = 0;
  readonly #columns = new SampleColumns();
  readonly #slices = new SliceList();
  #segments = 0;
  #boundary = 0;
  #samples = 0;
  /** Of the open segment. */
  #baseTicks = 0;
  #startTicks = 0;
  /** Decode time after the last sample, and the end of the frame presented last. */
  #nextDts = 0;
  #endTicks = 0;

  constructor(movie: FragmentedMovie, options: AssemblyOptions) {
    this.#movie = movie;
    this.#options = options;
  }

  /** Samples in segments that were made. */
  get samples(): number {
    return this.#samples;
  }

  /** Start of the first segment less the source's first presented instant. */
  get startTicks(): number {
    return this.#firstTicks - TIMELINE_START_SECONDS * this.#timescale;
  }

  /** Adds a fragment. @throws AppError `media-malformed` when too many samples wait */
  push(samples: readonly LocatedSample[]): void {
    if (this.#waiting.length + samples.length > MAX_WAITING_SAMPLES) {
      throw new AppError('media-malformed', 'one rendition runs hours ahead of the other');
    }
    for (const [index, sample] of samples.entries()) this.#waiting.push({ sample, isJoint: index === 0 });
  }

  /** Makes segments of the samples that wait; true when there may be more to do at once. @throws AppError `media-malformed` */
  assemble(): boolean {
    return this.#drain(false, MAX_SAMPLES_PER_CALL) === MAX_SAMPLES_PER_CALL;
  }

  /** Nothing will be added any more: makes a segment of the rest. @throws AppError `media-malformed` */
  end(): void {
    this.#drain(true, Number.POSITIVE_INFINITY);
    if (this.#columns.length > 0) this.#close(this.#endTicks);
  }

  get #timescale(): number {
    return this.#movie.track.timescale;
  }

  /** Gives the number of samples that no longer wait. */
  #drain(isEnded: boolean, maxSamples: number): number {
    let done = 0;
    const last = this.#waiting.at(-1)?.sample;
    const reachTicks =
      last === undefined ? 0 : last.dtsTicks + last.compositionOffsetTicks + last.durationTicks;
    for (const { sample, isJoint } of this.#waiting) {
      if (done === maxSamples) break;
      const pts = sample.dtsTicks + sample.compositionOffsetTicks;
      if (this.#shift === undefined) {
        this.#begin(sample, this.#place(sample));
      } else {
        const decision = this.#decide(sample, isJoint, reachTicks + this.#shift);
        if (decision === 'unknown' && !isEnded) break;
        if (decision === 'cut') {
          this.#close(pts + this.#shift);
          this.#begin(sample, 0);
          // Several boundaries within a frame make one cut.
          do this.#boundary += 1;
          while (this.#options.boundaries !== undefined && this.#decide(sample, isJoint, 0) === 'cut');
        }
      }
      this.#add(sample);
      done += 1;
    }
    this.#waiting = this.#waiting.slice(done);
    return done;
  }

  /** Finds the first sample's place on the timeline; gives how much earlier its frame is to be shown, in ticks. */
  #place(sample: LocatedSample): number {
    const pts = sample.dtsTicks + sample.compositionOffsetTicks;
    const startSeconds = this.#startSecondsOf(pts);
    this.#shift = Math.round((TIMELINE_START_SECONDS + startSeconds) * this.#timescale) - pts;
    const isLate = this.#movie.track.kind === 'video' && startSeconds > MAX_LATE_VIDEO_SECONDS;
    const leadTicks = isLate ? Math.round(startSeconds * this.#timescale) : 0;
    this.#firstTicks = pts + this.#shift - leadTicks;
    return leadTicks;
  }

  #startSecondsOf(pts: number): number {
    const { track, edit, movieTimescale } = this.#movie;
    const primingSeconds = AAC_PRIMING_SAMPLES / (track.sampleRate ?? track.timescale);
    const usual = this.#options.startSeconds ?? (track.kind === 'audio' ? -primingSeconds : 0);
    if (edit === undefined) return usual;
    const inFile = edit.emptyTicks / movieTimescale + (pts - edit.mediaTimeTicks) / track.timescale;
    const told = inFile - this.#options.originSeconds;
    return Math.abs(told - usual) < EDIT_ROUNDING_SECONDS ? usual : told;
  }

  #decide(sample: LocatedSample, isJoint: boolean, reachTicks: number): 'stay' | 'cut' | 'unknown' {
    const { segmentSeconds, boundaries } = this.#options;
    const isVideo = this.#movie.track.kind === 'video';
    if (isVideo && !(isJoint && sample.isSync)) return 'stay';
    const timescale = this.#timescale;
    const pts = sample.dtsTicks + sample.compositionOffsetTicks + (this.#shift ?? 0);
    if (isVideo && boundaries === undefined) {
      return (pts - this.#startTicks) / timescale >= segmentSeconds - ROUNDING_SECONDS ? 'cut' : 'stay';
    }
    const boundary = boundaryAfter(this.#boundary, boundaries, segmentSeconds);
    if (boundary === undefined) return 'unknown';
    const seconds = (pts + sample.durationTicks / 2) / timescale - TIMELINE_START_SECONDS;
    if (seconds < boundary.seconds) return 'stay';
    const isReached = boundary.neededSeconds <= boundary.seconds;
    return isReached || reachTicks / timescale - TIMELINE_START_SECONDS >= boundary.neededSeconds
      ? 'cut'
      : 'unknown';
  }

  #begin(sample: LocatedSample, leadTicks: number): void {
    const shift = this.#shift ?? 0;
    this.#baseTicks = sample.dtsTicks + shift - leadTicks;
    this.#startTicks = sample.dtsTicks + sample.compositionOffsetTicks + shift - leadTicks;
    this.#nextDts = sample.dtsTicks - leadTicks;
    if (this.#baseTicks < 0)
      throw new AppError('media-malformed', 'a frame is decoded long before it is shown');
  }

  #add(sample: LocatedSample): void {
    const { dtsTicks, durationTicks, compositionOffsetTicks, sizeBytes, isSync, position } = sample;
    const isFirst = this.#columns.length === 0;
    const missing = dtsTicks - this.#nextDts;
    if (missing < 0) throw new AppError('media-malformed', 'decode times run back');
    if (!isFirst && missing > 0) this.#columns.extendLast(missing);
    this.#columns.push(durationTicks + (isFirst ? missing : 0), sizeBytes, compositionOffsetTicks, isSync);
    this.#slices.push(position, sizeBytes);
    this.#nextDts = dtsTicks + durationTicks;
    this.#endTicks = Math.max(
      this.#endTicks,
      dtsTicks + compositionOffsetTicks + durationTicks + (this.#shift ?? 0),
    );
  }

  #close(nextTicks: number): void {
    this.#segments += 1;
    this.#samples += this.#columns.length;
    const head = writeFragmentHeader(this.#segments, 1, this.#baseTicks, this.#columns);
    const durationTicks = Math.max(0, nextTicks - this.#startTicks);
    this.#options.onSegment(durationTicks, head, this.#slices, this.#columns.dataBytes);
    this.#columns.clear();
    this.#slices.clear();
  }
}
