import { SampleColumns, writeFragmentHeader } from '../../media/cmaf/fragment-header.ts';
import type { FragmentedMovie } from '../../media/cmaf/fragmented-file.ts';
import type { LocatedSample } from '../../media/cmaf/movie-fragment.ts';
import { AppError } from '../../shared/errors.ts';
import { DecodeTimes } from './decode-times.ts';
import { MAX_LATE_VIDEO_SECONDS, TIMELINE_START_SECONDS } from './rendition.ts';
import { SampleQueue } from './sample-queue.ts';
import { boundaryAfter, type SegmentBoundaries } from './segment-boundaries.ts';
import { SliceList } from './segment-record.ts';

/** Priming in samples, as ffmpeg writes it. */
const AAC_PRIMING_SAMPLES = 1024;

/** Edit lists have millisecond precision. */
const EDIT_ROUNDING_SECONDS = 0.002;

/** Longest duration of a last frame that does not end at the stated end: Matroska states none, and ffmpeg guesses an average. */
const MAX_LAST_FRAME_SECONDS = 0.5;

const ROUNDING_SECONDS = 0.0005;

/** Samples that wait for boundaries of the other rendition: hours of audio. */
const MAX_WAITING_SAMPLES = 1_000_000;
const MAX_SAMPLES_PER_CALL = 25_000;

interface AssemblyOptions {
  readonly segmentSeconds: number;
  readonly boundaries: SegmentBoundaries | undefined;
  readonly originSeconds: number;
  /** Start from the first presented instant. Default: the file's edit list, or the usual priming. */
  readonly startSeconds: number | undefined;
  /** Stated by the source, from the first presented instant. Ends a last frame of video that has a guessed duration. */
  readonly endSeconds?: number | undefined;
  /** `slices` is valid only during the call. */
  readonly onSegment: (durationTicks: number, head: Buffer, slices: SliceList, sliceBytes: number) => void;
}

/** Cuts video only at fragment starts, audio at any frame. */
export class SegmentAssembler {
  readonly #movie: FragmentedMovie;
  readonly #options: AssemblyOptions;
  readonly #waiting: SampleQueue;
  #shift: number | undefined;
  #firstTicks = 0;
  readonly #columns = new SampleColumns();
  readonly #slices = new SliceList();
  /** Absent for audio. */
  readonly #decodeTimes: DecodeTimes | undefined;
  #segments = 0;
  #boundary = 0;
  #samples = 0;
  /** Decode time of the segment's first sample in the file, on the timeline. */
  #fileBaseTicks = 0;
  #baseTicks = 0;
  #startTicks = 0;
  #nextDts = 0;
  #lastTicks = 0;
  #endTicks = 0;

  constructor(movie: FragmentedMovie, options: AssemblyOptions) {
    this.#movie = movie;
    const { id, kind, timescale } = movie.track;
    this.#waiting = new SampleQueue(id);
    this.#decodeTimes = kind === 'video' ? new DecodeTimes(timescale) : undefined;
    this.#options = options;
  }

  get samples(): number {
    return this.#samples;
  }

  get startTicks(): number {
    return this.#firstTicks - TIMELINE_START_SECONDS * this.#timescale;
  }

  /** @throws AppError `media-malformed` when too many samples wait */
  push(samples: readonly LocatedSample[]): void {
    let startsFragment = true;
    for (const sample of samples) {
      this.pushSample(sample, startsFragment);
      startsFragment = false;
    }
  }

  /** `bytes` and `ticks` are added to its position and decode time. @throws AppError `media-malformed` when too many wait */
  pushSample(sample: LocatedSample, startsFragment: boolean, bytes = 0, ticks = 0): void {
    if (this.#waiting.length === MAX_WAITING_SAMPLES) {
      throw new AppError('media-malformed', 'One rendition runs hours ahead of the other.');
    }
    this.#waiting.push(sample, startsFragment, bytes, ticks);
  }

  /** Returns true when more can be assembled immediately. @throws AppError `media-malformed` */
  assemble(): boolean {
    return this.#drain(false, MAX_SAMPLES_PER_CALL) === MAX_SAMPLES_PER_CALL;
  }

  end(): void {
    this.#drain(true, Number.POSITIVE_INFINITY);
    if (this.#columns.length > 0) this.#close(this.#presentedEndTicks, undefined);
  }

  get #presentedEndTicks(): number {
    const { endSeconds } = this.#options;
    const isGuessed = this.#endTicks - this.#lastTicks > MAX_LAST_FRAME_SECONDS * this.#timescale;
    if (this.#movie.track.kind === 'audio' || endSeconds === undefined || !isGuessed) return this.#endTicks;
    const statedTicks = Math.round((TIMELINE_START_SECONDS + endSeconds) * this.#timescale);
    return statedTicks > this.#lastTicks ? Math.min(statedTicks, this.#endTicks) : this.#endTicks;
  }

  get #timescale(): number {
    return this.#movie.track.timescale;
  }

  #drain(isEnded: boolean, maxSamples: number): number {
    const waiting = this.#waiting;
    const last = waiting.length === 0 ? undefined : waiting.at(waiting.length - 1);
    const reachTicks =
      last === undefined ? 0 : last.dtsTicks + last.compositionOffsetTicks + last.durationTicks;
    const end = Math.min(waiting.length, maxSamples);
    let done = 0;
    for (; done < end; done += 1) {
      const sample = waiting.at(done);
      const { startsFragment } = sample;
      const pts = sample.dtsTicks + sample.compositionOffsetTicks;
      if (this.#shift === undefined) {
        this.#begin(sample, this.#place(sample));
      } else {
        const decision = this.#decide(sample, startsFragment, reachTicks + this.#shift);
        if (decision === 'unknown' && !isEnded) break;
        if (decision === 'cut') {
          this.#close(pts + this.#shift, sample.dtsTicks + this.#shift);
          this.#begin(sample, 0);
          // Several boundaries within a frame are a single cut.
          do this.#boundary += 1;
          while (this.#options.boundaries !== undefined && this.#decide(sample, startsFragment, 0) === 'cut');
        }
      }
      this.#add(sample);
    }
    waiting.dropFirst(done);
    return done;
  }

  /** Returns the ticks by which the first frame is shown earlier. */
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
    const expected = this.#options.startSeconds ?? (track.kind === 'audio' ? -primingSeconds : 0);
    if (edit === undefined) return expected;
    const inFile = edit.emptyTicks / movieTimescale + (pts - edit.mediaTimeTicks) / track.timescale;
    const stated = inFile - this.#options.originSeconds;
    return Math.abs(stated - expected) < EDIT_ROUNDING_SECONDS ? expected : stated;
  }

  #decide(sample: LocatedSample, startsFragment: boolean, reachTicks: number): 'stay' | 'cut' | 'unknown' {
    const { segmentSeconds, boundaries } = this.#options;
    const isVideo = this.#movie.track.kind === 'video';
    if (isVideo && !(startsFragment && sample.isSync)) return 'stay';
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
    this.#fileBaseTicks = sample.dtsTicks + shift - leadTicks;
    this.#startTicks = sample.dtsTicks + sample.compositionOffsetTicks + shift - leadTicks;
    this.#baseTicks = this.#decodeTimes?.baseOf(this.#fileBaseTicks, this.#startTicks) ?? this.#fileBaseTicks;
    this.#nextDts = sample.dtsTicks - leadTicks;
    if (this.#baseTicks < 0)
      throw new AppError('media-malformed', 'A frame is shown long before the first presented instant.');
  }

  #add(sample: LocatedSample): void {
    const { dtsTicks, durationTicks, compositionOffsetTicks, sizeBytes, isSync, position } = sample;
    const isFirst = this.#columns.length === 0;
    const missing = dtsTicks - this.#nextDts;
    if (missing < 0) throw new AppError('media-malformed', 'Decode times decrease.');
    if (!isFirst && missing > 0) this.#columns.extendLast(missing);
    this.#columns.push(durationTicks + (isFirst ? missing : 0), sizeBytes, compositionOffsetTicks, isSync);
    this.#slices.push(position, sizeBytes);
    this.#nextDts = dtsTicks + durationTicks;
    this.#lastTicks = Math.max(this.#lastTicks, dtsTicks + compositionOffsetTicks + (this.#shift ?? 0));
    // The decode interval of a reordered frame is not the time that it is shown. Only the file's last sample has its own duration.
    this.#endTicks = this.#lastTicks + durationTicks;
  }

  /** @param nextTicks end of its presentation @param nextDtsTicks of the next segment in the file */
  #close(nextTicks: number, nextDtsTicks: number | undefined): void {
    this.#segments += 1;
    this.#samples += this.#columns.length;
    this.#decodeTimes?.fit(this.#columns, this.#fileBaseTicks, this.#startTicks, nextTicks, nextDtsTicks);
    const head = writeFragmentHeader(this.#segments, this.#baseTicks, this.#columns);
    const durationTicks = Math.max(0, nextTicks - this.#startTicks);
    this.#options.onSegment(durationTicks, head, this.#slices, this.#columns.dataBytes);
    this.#columns.clear();
    this.#slices.clear();
  }
}
