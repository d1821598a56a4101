import { SampleColumns, writeFragmentHeader } from '../../media/cmaf/fragment-header.ts';
import { writeInitSegment } from '../../media/cmaf/init-segment.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { ProgressiveMovie, ProgressiveTrack } from '../../media/cmaf/progressive-file.ts';
import { SampleCursor } from '../../media/cmaf/sample-cursor.ts';
import type { TimeSlice } from '../../shared/scheduling/time-slice.ts';
import { DecodeTimes, shownTicks } from './decode-times.ts';
import { type IndexedRendition, TIMELINE_START_SECONDS } from './rendition.ts';
import { renditionMetadata } from './rendition-metadata.ts';
import type { Boundary } from './segment-boundaries.ts';
import { SegmentIndexWriter } from './segment-index.ts';
import { SliceList } from './segment-record.ts';
import { editOf, refusal, SAMPLES_PER_YIELD, type TrackSurvey } from './track-survey.ts';

/** Tracks with a lower timescale get a finer one, to keep the offset to the other track. */
const MIN_TIMESCALE = 8000;

type TrackCuts =
  | { readonly kind: 'samples'; readonly numbers: readonly number[]; readonly ptsTicks: readonly number[] }
  | { readonly kind: 'times'; readonly boundaryAt: (index: number) => Boundary | undefined };

interface TrackIndexOptions {
  readonly movie: ProgressiveMovie;
  readonly fileBytes: number;
  readonly mediaName: string;
  readonly slice: TimeSlice;
  /** Time in the file that becomes {@link TIMELINE_START_SECONDS}. */
  readonly originSeconds: number;
  readonly leadTicks: number;
  readonly cuts: TrackCuts;
}

/** @throws AppError `media-refused`, `media-malformed`; an unfinished file may remain */
export async function writeTrackIndex(
  track: ProgressiveTrack,
  description: TrackDescription,
  survey: TrackSurvey,
  indexPath: string,
  options: TrackIndexOptions,
): Promise<IndexedRendition> {
  const writer = await SegmentIndexWriter.create(indexPath);
  try {
    const factor = Math.max(1, Math.ceil(MIN_TIMESCALE / track.timescale));
    const timescale = track.timescale * factor;
    const segments = new TrackSegments(track, survey, timescale, factor, options, writer);
    await segments.writeAll();
    const { table } = writer;
    const finer: TrackDescription = { ...description, timescale };
    const metadata = renditionMetadata(finer, table, survey.end - survey.first);
    const startTicks = segments.firstTicks - TIMELINE_START_SECONDS * timescale;
    const header = {
      media: options.mediaName,
      mediaBytes: options.fileBytes,
      startTicks,
      renditionMetadata: metadata,
    };
    await writer.finish(header, writeInitSegment([finer]));
    const segmentStartsSeconds = Array.from(
      { length: table.length },
      (_, index) => (startTicks + table.row(index).startTicks) / timescale,
    );
    return { ...metadata, file: indexPath, segmentStartsSeconds };
  } finally {
    await writer.close();
  }
}

class TrackSegments {
  firstTicks = 0;
  readonly #cursor: SampleCursor;
  readonly #survey: TrackSurvey;
  readonly #timescale: number;
  readonly #factor: number;
  readonly #options: TrackIndexOptions;
  readonly #writer: SegmentIndexWriter;
  readonly #shift: number;
  /** Shift of decode times: with negative composition offsets, libav would delay a whole fragment. */
  readonly #earlierTicks: number;
  readonly #columns = new SampleColumns();
  readonly #slices = new SliceList();
  /** Absent for audio. */
  readonly #decodeTimes: DecodeTimes | undefined;
  /** Decode time of the segment's first sample in the file, on the timeline. */
  #fileBaseTicks = 0;
  #baseTicks = 0;
  #startTicks = 0;

  constructor(
    track: ProgressiveTrack,
    survey: TrackSurvey,
    timescale: number,
    factor: number,
    options: TrackIndexOptions,
    writer: SegmentIndexWriter,
  ) {
    const { emptyTicks, mediaTimeTicks } = editOf(track);
    this.#cursor = new SampleCursor(track.samples, options.fileBytes);
    this.#survey = survey;
    this.#timescale = timescale;
    this.#factor = factor;
    this.#options = options;
    this.#writer = writer;
    const emptySeconds = emptyTicks / options.movie.timescale;
    this.#shift =
      Math.round((emptySeconds - options.originSeconds + TIMELINE_START_SECONDS) * timescale) -
      mediaTimeTicks * factor;
    this.#earlierTicks = -survey.minOffsetTicks * factor;
    this.#decodeTimes = track.kind === 'video' ? new DecodeTimes(timescale) : undefined;
  }

  async writeAll(): Promise<void> {
    const { cuts, slice, leadTicks } = this.#options;
    const { first, end } = this.#survey;
    const cursor = this.#cursor;
    let nextCut = 1;
    while (cursor.next() && cursor.number < end) {
      if (cursor.number % SAMPLES_PER_YIELD === 0) {
        if (slice.isOver) await slice.next();
        if (this.#writer.isFull) await this.#writer.flush();
      }
      if (cursor.number < first) continue;
      const pts = cursor.ptsTicks * this.#factor + this.#shift;
      if (cursor.number === first) {
        this.#begin(pts - leadTicks * this.#factor, leadTicks * this.#factor);
        this.firstTicks = this.#startTicks;
      } else if (cuts.kind === 'samples') {
        if (cursor.number === cuts.numbers[nextCut]) {
          this.#close(pts, this.#dtsTicks);
          this.#begin(pts, 0);
          nextCut += 1;
        }
        const following = cuts.ptsTicks[nextCut];
        const isEarly = pts < this.#startTicks;
        const isLate = following !== undefined && pts >= following * this.#factor + this.#shift;
        if (isEarly || isLate) throw refusal('has frames that reach across a keyframe');
      } else if (this.#isDue(cuts.boundaryAt, nextCut - 1, pts)) {
        this.#close(pts, this.#dtsTicks);
        this.#begin(pts, 0);
        // Several boundaries within a frame are a single cut.
        do nextCut += 1;
        while (this.#isDue(cuts.boundaryAt, nextCut - 1, pts));
      }
      this.#add(cursor.number === first ? leadTicks * this.#factor : 0);
    }
    this.#close(this.#survey.endTicks * this.#factor + this.#shift, undefined);
  }

  #isDue(boundaryAt: (index: number) => Boundary | undefined, index: number, pts: number): boolean {
    const boundary = boundaryAt(index);
    if (boundary === undefined) return false;
    const { seconds, neededSeconds } = boundary;
    const shiftSeconds = TIMELINE_START_SECONDS;
    const half = (this.#cursor.durationTicks * this.#factor) / 2;
    if (pts < (seconds + shiftSeconds) * this.#timescale - half) return false;
    const endTicks = this.#survey.endTicks * this.#factor + this.#shift;
    return endTicks >= (neededSeconds + shiftSeconds) * this.#timescale;
  }

  get #dtsTicks(): number {
    return this.#cursor.dtsTicks * this.#factor + this.#shift - this.#earlierTicks;
  }

  #begin(startTicks: number, leadTicks: number): void {
    this.#startTicks = startTicks;
    this.#fileBaseTicks = this.#dtsTicks - leadTicks;
    this.#baseTicks = this.#decodeTimes?.baseOf(this.#fileBaseTicks, startTicks) ?? this.#fileBaseTicks;
    if (this.#baseTicks < 0) throw refusal('is shown long before its start');
  }

  #add(leadTicks: number): void {
    const cursor = this.#cursor;
    const duration = cursor.durationTicks * this.#factor || this.#survey.lastDurationTicks * this.#factor;
    const offset = cursor.compositionOffsetTicks * this.#factor + this.#earlierTicks;
    if (offset < 0 || offset >= 2 ** 31) throw refusal('has composition offsets out of range');
    const isFirst = this.#columns.length === 0;
    // Only the first frame of a segment was checked to be independently decodable.
    this.#columns.push(
      Math.round(duration) + leadTicks,
      cursor.sizeBytes,
      offset,
      isFirst || this.#options.cuts.kind === 'times',
    );
    this.#slices.push(cursor.position, cursor.sizeBytes);
  }

  /** @param nextTicks end of its presentation @param nextDtsTicks of the next segment in the file */
  #close(nextTicks: number, nextDtsTicks: number | undefined): void {
    if (this.#decodeTimes !== undefined) {
      const shown = shownTicks(this.#columns, this.#fileBaseTicks).sort();
      if (shown.some((ticks, index) => ticks === shown[index - 1])) {
        throw refusal('shows two frames at the same time');
      }
    }
    this.#decodeTimes?.fit(this.#columns, this.#fileBaseTicks, this.#startTicks, nextTicks, nextDtsTicks);
    const head = writeFragmentHeader(this.#writer.table.length + 1, this.#baseTicks, this.#columns);
    const duration = Math.max(0, nextTicks - this.#startTicks);
    this.#writer.add(duration, head, this.#slices, this.#columns.dataBytes);
    this.#columns.clear();
    this.#slices.clear();
  }
}
