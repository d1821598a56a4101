import { join } from 'node:path';
import { writeInitSegment } from '../../media/cmaf/init-segment.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { LocatedSample } from '../../media/cmaf/movie-fragment.ts';
import { AppError } from '../../shared/errors.ts';
import { type IndexedRendition, TIMELINE_START_SECONDS } from '../index/rendition.ts';
import { renditionMetadata } from '../index/rendition-metadata.ts';
import { SegmentAssembler } from '../index/segment-assembler.ts';
import type { SegmentBoundaries } from '../index/segment-boundaries.ts';
import { SegmentIndexWriter } from '../index/segment-index.ts';

const segmentSeconds = 4;
/** A track that has not begun after so much of the other one begins late: what came is not kept back any longer. */
const maxWaitSeconds = 2;

/** One track on its way to be a rendition. */
interface TrackLine {
  readonly track: TrackDescription;
  readonly writer: SegmentIndexWriter;
  readonly path: string;
  assembler: SegmentAssembler | undefined;
}

/** What an index came to. */
export interface IndexedRecording {
  readonly video: IndexedRendition | undefined;
  readonly audio: IndexedRendition | undefined;
  /** When the sound begins, less when the picture does. */
  readonly audioLateSeconds: number;
}

/**
 * The indexes of a recording, made while it grows, out of the heads of its fragments: its file is played as it is as soon as it is closed.
 * The same fragments give the same indexes, whenever they are read. The owner ends it with {@link finish} or {@link close}.
 */
export class RecordingIndex {
  readonly #lines: readonly TrackLine[];
  readonly #mediaName: string;
  /** Fragments from before it was known when the recording begins. */
  #held: (readonly LocatedSample[])[] | undefined = [];
  #hasEnded = false;
  #originSeconds = 0;
  readonly #starts = new Map<number, number>();

  private constructor(lines: readonly TrackLine[], mediaName: string) {
    this.#lines = lines;
    this.#mediaName = mediaName;
  }

  /**
   * Begins indexes in a folder, `video.index` and `audio.index`.
   *
   * @param tracks of the recording, at most one of each kind
   * @param mediaName path of the recording's file from there, in the end
   */
  static async create(
    folder: string,
    tracks: readonly TrackDescription[],
    mediaName: string,
  ): Promise<RecordingIndex> {
    const lines: TrackLine[] = [];
    // The picture goes first: the sound is cut where it is.
    for (const kind of ['video', 'audio'] as const) {
      const track = tracks.find(one => one.kind === kind);
      if (track === undefined) continue;
      const path = join(folder, `${kind}.index`);
      lines.push({ track, path, writer: await SegmentIndexWriter.create(path), assembler: undefined });
    }
    return new RecordingIndex(lines, mediaName);
  }

  /** True when it is time to {@link flush}. */
  get isFull(): boolean {
    return this.#lines.some(({ writer }) => writer.isFull);
  }

  /** Adds a fragment: its samples, where they lie in the file. @throws AppError `media-malformed` when they cannot be put in order */
  add(samples: readonly LocatedSample[]): void {
    if (this.#held === undefined) {
      this.#push(samples);
      this.#assemble();
      return;
    }
    this.#held.push(samples);
    this.#noteStarts(samples);
    if (this.#starts.size === this.#lines.length || this.#heldSeconds() >= maxWaitSeconds) this.#begin();
  }

  /** Brings to the disk what was added. */
  async flush(): Promise<void> {
    for (const { writer } of this.#lines) await writer.flush();
  }

  /**
   * Ends and closes the indexes.
   *
   * @param mediaBytes length of the file
   * @throws AppError `media-malformed` when there is nothing to play
   */
  async finish(mediaBytes: number): Promise<IndexedRecording> {
    try {
      if (this.#held !== undefined) this.#begin();
      const done = new Map<string, IndexedRendition>();
      const [picture] = this.#lines;
      for (const line of this.#lines) {
        line.assembler?.end();
        this.#hasEnded = true;
        const rendition = await this.#finishLine(line, mediaBytes);
        if (rendition !== undefined) done.set(line.track.kind, rendition);
      }
      if (picture === undefined || !done.has(picture.track.kind)) {
        throw new AppError('media-malformed', 'a recording without a frame');
      }
      const [video, audio] = [this.#starts.get(1), this.#starts.get(2)];
      return {
        video: done.get('video'),
        audio: done.get('audio'),
        audioLateSeconds: video === undefined || audio === undefined ? 0 : audio - video,
      };
    } finally {
      await this.close();
    }
  }

  /** Gives up what it holds; what was written stays. */
  async close(): Promise<void> {
    for (const { writer } of this.#lines) await writer.close();
  }

  async #finishLine(
    { track, writer, path, assembler }: TrackLine,
    mediaBytes: number,
  ): Promise<IndexedRendition | undefined> {
    if (assembler === undefined || assembler.samples === 0) return undefined;
    const { table } = writer;
    const facts = renditionMetadata(track, table, assembler.samples);
    const { startTicks } = assembler;
    const init = writeInitSegment([{ ...track, id: 1 }]);
    await writer.finish({ media: this.#mediaName, mediaBytes, startTicks, facts }, init);
    const starts = Array.from(
      { length: table.length },
      (_, index) => (startTicks + table.row(index).startTicks) / track.timescale,
    );
    return { ...facts, file: path, segmentStartsSeconds: starts };
  }

  #noteStarts(samples: readonly LocatedSample[]): void {
    for (const { track } of this.#lines) {
      const first = samples.find(({ trackId }) => trackId === track.id);
      if (first === undefined || this.#starts.has(track.id)) continue;
      this.#starts.set(track.id, (first.dtsTicks + first.compositionOffsetTicks) / track.timescale);
    }
  }

  #heldSeconds(): number {
    const begun = this.#lines.find(({ track }) => this.#starts.has(track.id));
    const last = this.#held?.flat().findLast(({ trackId }) => trackId === begun?.track.id);
    if (begun === undefined || last === undefined) return 0;
    return last.dtsTicks / begun.track.timescale - (this.#starts.get(begun.track.id) ?? 0);
  }

  /** It is known when the recording begins, which is what all its times count from. */
  #begin(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#originSeconds = Math.min(...this.#starts.values());
    for (const samples of held) this.#push(samples);
    this.#assemble();
  }

  #push(samples: readonly LocatedSample[]): void {
    this.#noteStarts(samples);
    for (const line of this.#lines) {
      const own = samples.filter(({ trackId }) => trackId === line.track.id);
      if (own.length === 0) continue;
      line.assembler ??= this.#assemblerFor(line);
      for (const run of line.track.kind === 'video' ? runsFromKeyframes(own) : [own])
        line.assembler.push(run);
    }
  }

  #assemble(): void {
    for (const { assembler } of this.#lines) assembler?.assemble();
  }

  #assemblerFor({ track, writer }: TrackLine): SegmentAssembler {
    const movie = { track, defaults: new Map(), movieTimescale: 1000, edit: undefined };
    return new SegmentAssembler(movie, {
      segmentSeconds,
      boundaries: track.kind === 'audio' ? this.#pictureBoundaries() : undefined,
      originSeconds: TIMELINE_START_SECONDS,
      startSeconds: (this.#starts.get(track.id) ?? 0) - this.#originSeconds,
      onSegment: (...segment) => writer.add(...segment),
    });
  }

  /** Where the picture's segments begin, as far as that is known. */
  #pictureBoundaries(): SegmentBoundaries | undefined {
    const picture = this.#lines.find(({ track }) => track.kind === 'video');
    if (picture === undefined) return undefined;
    const { table } = picture.writer;
    const startOf = (ticks: number) =>
      ((picture.assembler?.startTicks ?? 0) + ticks) / picture.track.timescale;
    return {
      startSeconds: index => {
        if (table.length === 0 || index > table.length) return undefined;
        if (index < table.length) return startOf(table.row(index).startTicks);
        // While it grows a segment ends only because the next one has begun.
        return this.#hasEnded ? undefined : startOf(table.durationTicks);
      },
      end: () =>
        this.#hasEnded ? { segmentCount: table.length, seconds: startOf(table.durationTicks) } : undefined,
    };
  }
}

/** Cuts samples where a keyframe is: a segment may begin at any of them. */
function runsFromKeyframes(samples: readonly LocatedSample[]): LocatedSample[][] {
  const runs: LocatedSample[][] = [];
  for (const sample of samples) {
    if (sample.isSync || runs.length === 0) runs.push([sample]);
    else runs.at(-1)!.push(sample);
  }
  return runs;
}
