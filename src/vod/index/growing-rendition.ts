import { basename } from 'node:path';
import { writeInitSegment } from '../../media/cmaf/init-segment.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { AppError } from '../../shared/errors.ts';
import { yieldToEventLoop } from '../../shared/scheduling/yield-to-event-loop.ts';
import { FragmentFollower } from './fragment-follower.ts';
import {
  type BitRates,
  type IndexedRendition,
  type OpenRendition,
  type RenditionMetadata,
  type SegmentBytes,
  TIMELINE_START_SECONDS,
} from './rendition.ts';
import { renditionMetadata } from './rendition-metadata.ts';
import { SegmentAssembler } from './segment-assembler.ts';
import type { SegmentBoundaries } from './segment-boundaries.ts';
import { SegmentIndexWriter } from './segment-index.ts';
import { decodeRecord } from './segment-record.ts';

export interface GrowingRenditionOptions {
  /** Fragmented MP4 with one track, which may not exist yet. Fragments of video begin with a keyframe. */
  readonly path: string;
  readonly mediaName?: string;
  readonly language?: string | undefined;
  readonly segmentSeconds?: number;
  /** Boundaries of another rendition, which may be growing. This one is cut at the same times. */
  readonly boundaries?: SegmentBoundaries | undefined;
  /** First presented instant in the file's time: the encoder's `-output_ts_offset`. Default 10. */
  readonly originSeconds?: number;
  /** Start of the first frame after that, without an edit list. Default: 0, or minus the priming. */
  readonly startSeconds?: number | undefined;
  /** End that the source states, from the first presented instant. */
  readonly endSeconds?: number | undefined;
}

/**
 * Serves a rendition while ffmpeg still writes its fragmented MP4. Writes the index `PATH.index`. The owner
 * polls, calls {@link GrowingRendition.finish} when ffmpeg succeeded, and always {@link
 * GrowingRendition.close}.
 * Segments get new headers on the common timeline: ffmpeg's decode times begin at 0, and only an edit list,
 * which requires `+delay_moov`, states the start of the presentation.
 */
export class GrowingRendition implements OpenRendition {
  readonly #options: GrowingRenditionOptions;
  readonly #follower: FragmentFollower;
  readonly #mediaPath: string;
  #track: TrackDescription | undefined;
  #assembler: SegmentAssembler | undefined;
  #writer: SegmentIndexWriter | undefined;
  #init: Buffer = Buffer.alloc(0);
  readonly #bounds: number[] = [];
  #state: 'growing' | 'finished' | 'closed' = 'growing';
  #hasEnded = false;
  #work: Promise<void> = Promise.resolve();

  constructor(options: GrowingRenditionOptions) {
    this.#options = options;
    this.#mediaPath = options.path;
    this.#follower = new FragmentFollower(options.path, {
      onMovie: movie => {
        this.#track = { ...movie.track, id: 1, language: options.language };
        this.#init = writeInitSegment([this.#track]);
        this.#assembler = new SegmentAssembler(movie, {
          segmentSeconds: options.segmentSeconds ?? 4,
          boundaries: options.boundaries,
          originSeconds: options.originSeconds ?? TIMELINE_START_SECONDS,
          startSeconds: options.startSeconds,
          endSeconds: options.endSeconds,
          onSegment: (...segment) => this.#opened().add(...segment),
        });
      },
      onFragment: samples => this.#assembler?.push(samples),
    });
  }

  /** @throws AppError `server-error` while there is no segment */
  get renditionMetadata(): RenditionMetadata {
    if (this.#track === undefined || this.#assembler === undefined) {
      throw new AppError('server-error', 'A growing rendition has no segment yet.');
    }
    return renditionMetadata(this.#track, this.#opened().table, this.#assembler.samples);
  }

  get segmentCount(): number {
    return Math.max(0, this.#bounds.length - 1);
  }

  get init(): Buffer {
    return this.segmentCount === 0 ? Buffer.alloc(0) : this.#init;
  }

  /** Segment boundaries; valid after {@link close}, too. */
  readonly boundaries: SegmentBoundaries = {
    // While the rendition grows, a segment ends when the next one begins.
    startSeconds: index => (index < this.segmentCount || !this.#hasEnded ? this.#bounds[index] : undefined),
    end: () => {
      const seconds = this.#hasEnded ? this.#bounds.at(-1) : undefined;
      return seconds === undefined ? undefined : { segmentCount: this.segmentCount, seconds };
    },
  };

  startSeconds(index: number): number {
    this.#opened().table.row(index);
    return this.#bounds[index] ?? 0;
  }

  durationSeconds(index: number): number {
    return this.#opened().table.row(index).durationTicks / this.renditionMetadata.timescale;
  }

  async readSegment(index: number): Promise<SegmentBytes> {
    if (index >= this.segmentCount) throw new AppError('server-error', `segment ${index} is not there yet`);
    const record = await this.#opened().record(index);
    return decodeRecord(record, { path: this.#mediaPath, bytes: this.#follower.fileBytes });
  }

  bitRates(targetDurationSeconds: number): BitRates {
    if (this.segmentCount === 0) return { peakBitsPerSecond: 0, averageBitsPerSecond: 0 };
    return this.#opened().table.bitRates(this.renditionMetadata.timescale, targetDurationSeconds);
  }

  /** Serialized. @throws AppError `media-malformed`; `stopped` after {@link finish} or {@link close} */
  poll(): Promise<void> {
    return this.#serialize(async () => {
      await this.#read();
      await this.#assemble();
      await this.#publish();
    });
  }

  /**
   * Reads the rest of the file and finishes the index. Boundaries that this rendition uses must be finished
   * first. @throws AppError `media-malformed`, also without frames or with a truncated fragment
   */
  async finish(): Promise<IndexedRendition> {
    await this.#serialize(async () => {
      await this.#read();
      await this.#assemble();
      this.#assembler?.end();
      const assembler = this.#assembler;
      if (assembler === undefined || assembler.samples === 0 || !this.#follower.isAtEnd) {
        throw new AppError('media-malformed', `${basename(this.#options.path)} is not a complete rendition.`);
      }
      await this.#publish(true);
      const header = {
        media: this.#options.mediaName ?? basename(this.#options.path),
        mediaBytes: this.#follower.fileBytes,
        startTicks: assembler.startTicks,
        renditionMetadata: this.renditionMetadata,
      };
      await this.#opened().finish(header, this.#init);
      this.#state = 'finished';
    });
    return {
      ...this.renditionMetadata,
      file: `${this.#options.path}.index`,
      segmentStartsSeconds: this.#bounds.slice(0, -1),
    };
  }

  /** Makes segments unreadable. Can be called twice. */
  async close(): Promise<void> {
    this.#state = 'closed';
    await this.#work;
    const writer = this.#writer;
    this.#writer = undefined;
    await writer?.close();
  }

  async #assemble(): Promise<void> {
    while (this.#assembler?.assemble() === true) await yieldToEventLoop();
  }

  async #read(): Promise<void> {
    if (this.#state !== 'growing') throw new AppError('stopped', 'A rendition was polled after its end.');
    this.#writer ??= await SegmentIndexWriter.create(`${this.#options.path}.index`);
    await this.#follower.poll();
  }

  async #publish(hasEnded = false): Promise<void> {
    const { table } = this.#opened();
    const [assembler, timescale] = [this.#assembler, this.#track?.timescale];
    if (assembler === undefined || timescale === undefined || table.length === this.segmentCount) return;
    await this.#opened().flush();
    this.#hasEnded = hasEnded;
    this.#bounds.pop();
    for (let index = this.#bounds.length; index < table.length; index++) {
      this.#bounds.push((assembler.startTicks + table.row(index).startTicks) / timescale);
    }
    this.#bounds.push((assembler.startTicks + table.durationTicks) / timescale);
  }

  #opened(): SegmentIndexWriter {
    if (this.#writer === undefined) throw new AppError('stopped', 'The rendition is closed.');
    return this.#writer;
  }

  #serialize(work: () => Promise<void>): Promise<void> {
    const result = this.#work.then(work);
    this.#work = result.catch(() => undefined);
    return result;
  }
}
