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

/** How a file is followed. */
export interface GrowingRenditionOptions {
  /** The fragmented MP4 file, of one track; it may not be there yet. Video: every fragment begins with a keyframe. */
  readonly path: string;
  /** Path of the file from where the index will be in the end; its own name if not given. */
  readonly mediaName?: string;
  /** Of audio, as the source names it. */
  readonly language?: string | undefined;
  /** Default 4. */
  readonly segmentSeconds?: number;
  /** Where another rendition's segments begin: those of this one begin there too. May be of one that still grows. */
  readonly boundaries?: SegmentBoundaries | undefined;
  /** Time in the file of the source's first presented instant, which is the encoder's `-output_ts_offset`. Default 10. */
  readonly originSeconds?: number;
  /**
   * When the first frame is presented, in seconds since the source's first presented instant. Only needed where the file has no edit
   * list; the default then is 0, and for sound what an encoder puts in front before that.
   */
  readonly startSeconds?: number | undefined;
}

/**
 * A rendition that is served while ffmpeg still writes it: one fragmented MP4 file, read from front to back as it grows, without its
 * media. Its index grows beside it, as `PATH.index`. The owner polls, in the end calls {@link GrowingRendition.finish} or not, and always
 * {@link GrowingRendition.close}.
 *
 * Segments get heads of our own, with the times of the timeline that all renditions share: ffmpeg lets every file begin with decode
 * time 0 and says only in an edit list, and that with `+delay_moov` alone, when it is presented.
 */
export class GrowingRendition implements OpenRendition {
  readonly #options: GrowingRenditionOptions;
  readonly #follower: FragmentFollower;
  readonly #mediaPath: string;
  #track: TrackDescription | undefined;
  #assembler: SegmentAssembler | undefined;
  #writer: SegmentIndexWriter | undefined;
  #init: Buffer = Buffer.alloc(0);
  /** Starts of the segments that can be read, and the end of the last one, in seconds. */
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
          onSegment: (...segment) => this.#opened().add(...segment),
        });
      },
      onFragment: samples => this.#assembler?.push(samples),
    });
  }

  /** As far as it has come. @throws AppError `server-error` while there is no segment */
  get facts(): RenditionMetadata {
    if (this.#track === undefined || this.#assembler === undefined) {
      throw new AppError('server-error', 'nothing is known yet of a rendition that grows');
    }
    return renditionMetadata(this.#track, this.#opened().table, this.#assembler.samples);
  }

  get segmentCount(): number {
    return Math.max(0, this.#bounds.length - 1);
  }

  get init(): Buffer {
    return this.segmentCount === 0 ? Buffer.alloc(0) : this.#init;
  }

  /** Where its segments begin, for another rendition; goes on as this one grows, and is good even after {@link close}. */
  readonly boundaries: SegmentBoundaries = {
    // While it grows a segment ends only because the next one has begun.
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
    return this.#opened().table.row(index).durationTicks / this.facts.timescale;
  }

  async readSegment(index: number): Promise<SegmentBytes> {
    if (index >= this.segmentCount) throw new AppError('server-error', `segment ${index} is not there yet`);
    const record = await this.#opened().record(index);
    return decodeRecord(record, { path: this.#mediaPath, bytes: this.#follower.fileBytes });
  }

  bitRates(targetDurationSeconds: number): BitRates {
    if (this.segmentCount === 0) return { peakBitsPerSecond: 0, averageBitsPerSecond: 0 };
    return this.#opened().table.bitRates(this.facts.timescale, targetDurationSeconds);
  }

  /**
   * Takes what was written since. Calls are done one after the other.
   *
   * @throws AppError `media-malformed`; `stopped` after {@link finish} or {@link close}
   */
  poll(): Promise<void> {
    return this.#afterOthers(async () => {
      await this.#read();
      await this.#assemble();
      await this.#show();
    });
  }

  /**
   * The file will not grow any more: takes the rest, and writes the index. It goes on being served. The rendition whose boundaries it
   * uses is finished before it.
   *
   * @throws AppError `media-malformed`, also for a file without a frame or that ends in the middle of a fragment
   */
  async finish(): Promise<IndexedRendition> {
    await this.#afterOthers(async () => {
      await this.#read();
      await this.#assemble();
      this.#assembler?.end();
      const assembler = this.#assembler;
      if (assembler === undefined || assembler.samples === 0 || !this.#follower.isAtEnd) {
        throw new AppError('media-malformed', `${basename(this.#options.path)} is not a whole rendition`);
      }
      await this.#show(true);
      const header = {
        media: this.#options.mediaName ?? basename(this.#options.path),
        mediaBytes: this.#follower.fileBytes,
        startTicks: assembler.startTicks,
        facts: this.facts,
      };
      await this.#opened().finish(header, this.#init);
      this.#state = 'finished';
    });
    return {
      ...this.facts,
      file: `${this.#options.path}.index`,
      segmentStartsSeconds: this.#bounds.slice(0, -1),
    };
  }

  /** Frees what it holds; no segment can be read from it afterwards. What it wrote stays. Safe twice. */
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
    if (this.#state !== 'growing') throw new AppError('stopped', 'a rendition that has ended is polled');
    this.#writer ??= await SegmentIndexWriter.create(`${this.#options.path}.index`);
    await this.#follower.poll();
  }

  /** Lets segments be seen once their records can be read. */
  async #show(hasEnded = false): Promise<void> {
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
    if (this.#writer === undefined) throw new AppError('stopped', 'a rendition is not open');
    return this.#writer;
  }

  #afterOthers(work: () => Promise<void>): Promise<void> {
    const result = this.#work.then(work);
    this.#work = result.catch(() => undefined);
    return result;
  }
}
