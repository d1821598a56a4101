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
import { type NamedTrack, recordedTracks } from './recorded-audio.ts';

const segmentSeconds = 4;
/**
 * Longest wait for a track: after this much of another one, it starts late, and samples are no longer held back.
 */
const maxWaitSeconds = 2;

export interface PlacedSamples {
  /** Samples of one part, with the times and positions of the part. */
  readonly samples: readonly LocatedSample[];
  /** Position of the part in the file. */
  readonly position: number;
  /** Shifts from the part's times to those of the recording, in ticks by track. */
  readonly shifts: ReadonlyMap<number, number>;
}

interface IndexedTrack extends NamedTrack {
  readonly writer: SegmentIndexWriter;
  readonly path: string;
  assembler: SegmentAssembler | undefined;
}

interface IndexedAudio {
  readonly name: string;
  readonly stream: number;
  readonly rendition: IndexedRendition;
  readonly lateSeconds: number;
}

export interface IndexedRecording {
  readonly video: IndexedRendition | undefined;
  /** Audio without tracks that have no frame. */
  readonly audio: readonly IndexedAudio[];
}

interface RecordingIndexOptions {
  /** Relative to the folder of the index. */
  readonly mediaName: string;
  /** Tracks to index. Default: the first video, and all audio in stereo. */
  readonly named?: readonly NamedTrack[];
  /** Time in the file that is presented first. Default: that of the earliest frame. */
  readonly originSeconds?: number;
}

/**
 * Writes the indexes of a growing recording from its fragment headers, so that the closed file is playable at
 * once. Deterministic. The owner ends it with {@link finish} or {@link close}.
 */
export class RecordingIndex {
  readonly #tracks: readonly IndexedTrack[];
  readonly #mediaName: string;
  #held: PlacedSamples[] | undefined = [];
  #hasEnded = false;
  #originSeconds: number | undefined;
  readonly #starts = new Map<number, number>();

  private constructor(
    lines: readonly IndexedTrack[],
    { mediaName, originSeconds }: Omit<RecordingIndexOptions, 'named'>,
  ) {
    this.#tracks = lines;
    this.#mediaName = mediaName;
    this.#originSeconds = originSeconds;
  }

  /** Creates `video.index`, `audio.index`, `audio2.index`, ... */
  static async create(
    folder: string,
    tracks: readonly TrackDescription[],
    { named = recordedTracks(tracks), ...options }: RecordingIndexOptions,
  ): Promise<RecordingIndex> {
    const lines: IndexedTrack[] = [];
    for (const { name, track, stream } of named) {
      const path = join(folder, `${name}.index`);
      const writer = await SegmentIndexWriter.create(path);
      lines.push({ name, stream, track, path, writer, assembler: undefined });
    }
    return new RecordingIndex(lines, options);
  }

  get isFull(): boolean {
    return this.#tracks.some(({ writer }) => writer.isFull);
  }

  /** @throws AppError `media-malformed` when times decrease */
  add(placed: PlacedSamples): void {
    if (this.#held === undefined) {
      this.#push(placed);
      this.#assemble();
      return;
    }
    this.#held.push(placed);
    this.#noteStarts(placed);
    if (this.#starts.size === this.#tracks.length || this.#heldSeconds() >= maxWaitSeconds) this.#begin();
  }

  async flush(): Promise<void> {
    for (const { writer } of this.#tracks) await writer.flush();
  }

  /** @throws AppError `media-malformed` when there is no frame */
  async finish(mediaBytes: number): Promise<IndexedRecording> {
    try {
      if (this.#held !== undefined) this.#begin();
      const done: IndexedAudio[] = [];
      const [first] = this.#tracks;
      const firstStart = first && this.#starts.get(first.track.id);
      for (const line of this.#tracks) {
        line.assembler?.end();
        this.#hasEnded = true;
        const rendition = await this.#finishLine(line, mediaBytes);
        if (rendition === undefined) continue;
        const { name, stream, track } = line;
        const lateSeconds = (this.#starts.get(track.id) ?? 0) - (firstStart ?? 0);
        done.push({ name, stream, rendition, lateSeconds });
      }
      if (first === undefined || done[0]?.name !== first.name) {
        throw new AppError('media-malformed', 'The recording has no frame.');
      }
      const video = first.track.kind === 'video' ? done[0].rendition : undefined;
      return { video, audio: video === undefined ? done : done.slice(1) };
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    for (const { writer } of this.#tracks) await writer.close();
  }

  async #finishLine(
    { track, writer, path, assembler }: IndexedTrack,
    mediaBytes: number,
  ): Promise<IndexedRendition | undefined> {
    if (assembler === undefined || assembler.samples === 0) return undefined;
    const { table } = writer;
    const language = track.label?.language ?? track.language;
    const metadata = renditionMetadata({ ...track, language }, table, assembler.samples);
    const { startTicks } = assembler;
    const init = writeInitSegment([{ ...track, id: 1, label: undefined }]);
    await writer.finish(
      { media: this.#mediaName, mediaBytes, startTicks, renditionMetadata: metadata },
      init,
    );
    const starts = Array.from(
      { length: table.length },
      (_, index) => (startTicks + table.row(index).startTicks) / track.timescale,
    );
    return { ...metadata, file: path, segmentStartsSeconds: starts };
  }

  #noteStarts({ samples, shifts }: PlacedSamples): void {
    for (const { track } of this.#tracks) {
      if (this.#starts.has(track.id)) continue;
      const first = samples.find(({ trackId }) => trackId === track.id);
      if (first === undefined) continue;
      const ticks = first.dtsTicks + (shifts.get(track.id) ?? 0) + first.compositionOffsetTicks;
      this.#starts.set(track.id, ticks / track.timescale);
    }
  }

  #heldSeconds(): number {
    const begun = this.#tracks.find(({ track }) => this.#starts.has(track.id));
    if (begun === undefined) return 0;
    const { id, timescale } = begun.track;
    const lastTicks = (this.#held ?? []).flatMap(({ samples, shifts }) => {
      const last = samples.findLast(({ trackId }) => trackId === id);
      return last === undefined ? [] : last.dtsTicks + (shifts.get(id) ?? 0);
    });
    return (lastTicks.at(-1) ?? 0) / timescale - (this.#starts.get(id) ?? 0);
  }

  /** Fixes the start of the recording and releases held samples. */
  #begin(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#originSeconds ??= Math.min(...this.#starts.values());
    for (const placed of held) this.#push(placed);
    this.#assemble();
  }

  #push(placed: PlacedSamples): void {
    this.#noteStarts(placed);
    const { samples, position, shifts } = placed;
    for (const line of this.#tracks) {
      const { id, kind } = line.track;
      const ticks = shifts.get(id) ?? 0;
      let isFirst = true;
      for (const sample of samples) {
        if (sample.trackId !== id) continue;
        line.assembler ??= this.#assemblerFor(line);
        line.assembler.pushSample(sample, isFirst || (kind === 'video' && sample.isSync), position, ticks);
        isFirst = false;
      }
    }
  }

  #assemble(): void {
    for (const { assembler } of this.#tracks) assembler?.assemble();
  }

  #assemblerFor({ track, writer }: IndexedTrack): SegmentAssembler {
    const movie = { track, defaults: new Map(), movieTimescale: 1000, edit: undefined };
    return new SegmentAssembler(movie, {
      segmentSeconds,
      boundaries: track.kind === 'audio' ? this.#videoBoundaries() : undefined,
      originSeconds: TIMELINE_START_SECONDS,
      startSeconds: (this.#starts.get(track.id) ?? 0) - (this.#originSeconds ?? 0),
      onSegment: (...segment) => writer.add(...segment),
    });
  }

  #videoBoundaries(): SegmentBoundaries | undefined {
    const video = this.#tracks.find(({ track }) => track.kind === 'video');
    if (video === undefined) return undefined;
    const { table } = video.writer;
    const startOf = (ticks: number) => ((video.assembler?.startTicks ?? 0) + ticks) / video.track.timescale;
    return {
      startSeconds: index => {
        if (table.length === 0 || index > table.length) return undefined;
        if (index < table.length) return startOf(table.row(index).startTicks);
        // While the rendition grows, a segment ends when the next one begins.
        return this.#hasEnded ? undefined : startOf(table.durationTicks);
      },
      end: () =>
        this.#hasEnded ? { segmentCount: table.length, seconds: startOf(table.durationTicks) } : undefined,
    };
  }
}
