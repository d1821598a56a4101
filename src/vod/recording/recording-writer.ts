import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { readFragmentLayout, shiftDecodeTimes } from '../../media/cmaf/fragment-layout.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { LocatedSample } from '../../media/cmaf/movie-fragment.ts';
import { isDiskFull } from '../../shared/files/disk-error.ts';
import { writeFully } from '../../storage/write-fully.ts';
import type { PlacedSamples, RecordingIndex } from './recording-index.ts';
import { RecordingSpan, spanName } from './recording-span.ts';
import { RecordingTimeline } from './recording-timeline.ts';

export type StopReason = 'disk-low' | 'disk-slow' | 'disk-error' | 'storage-limit';

export interface RecordingWriterOptions {
  readonly folder: string;
  /** Resolves before anything is written. Parts are ignored when it resolves to false. */
  readonly opened: Promise<boolean>;
  readonly makeIndex: (tracks: readonly TrackDescription[]) => Promise<RecordingIndex>;
  /** Called at most once, when the writer accepts no more parts. */
  readonly onStopped: (reason: StopReason, error: unknown) => void;
  readonly onWritten: (bytes: number, span: RecordingSpan, firstPath: string) => void;
  readonly sharedFiles?: SharedFiles | undefined;
  readonly maxQueuedBytes?: number;
  /** Number of the first file; 1 unless given. */
  readonly firstSpan?: number | undefined;
}

/** The location of a part in a shared file; undefined when it is in none. */
interface PartLocation {
  readonly file: number;
  readonly offset: number;
}

export interface RecordablePart {
  /** Tracks of the part: the same object while they do not change. */
  readonly tracks: readonly TrackDescription[];
  readonly fragment: Buffer;
  /** Samples of the fragment, with positions in it. */
  readonly samples: readonly LocatedSample[];
  /** Called once. */
  readonly stored?: (location: PartLocation | undefined) => void;
}

/** Gives others access to the files of a recording, which may be removed or renamed at any time. */
export interface SharedFiles {
  /** Undefined when the file cannot be linked. */
  link(path: string): Promise<number | undefined>;
  /** Marks a file as complete: nothing more is written to it. */
  complete(file: number): void;
}

export interface WrittenRecording {
  readonly spans: readonly RecordingSpan[];
  /** Undefined with several spans, or if the span must be encoded. */
  readonly index: RecordingIndex | undefined;
}

interface QueuedPart {
  readonly span: RecordingSpan;
  readonly pieces: readonly Buffer[];
  readonly bytes: number;
  readonly samples: readonly LocatedSample[];
  /** Shifts from the part to the file, and from the part to the recording's time, in ticks by track. */
  readonly fileShifts: ReadonlyMap<number, number> | undefined;
  readonly shifts: ReadonlyMap<number, number>;
  readonly stored: RecordablePart['stored'];
}

interface OpenFile {
  readonly span: RecordingSpan;
  readonly handle: FileHandle;
  /** Undefined when it is not shared. */
  readonly file: number | undefined;
}

const defaultMaxQueuedBytes = 16 * 1024 * 1024;
/** Parts of high bitrates do not wait for {@link RecordingWriter.flush}. */
const maxUnflushedBytes = 1024 * 1024;
/** Two buffers per part stay below IOV_MAX (1024). */
const maxPartsPerWrite = 200;
/** Latest start; later parts are shifted, because ffmpeg seeks and measures durations from 0. */
const maxStartSeconds = 30;
/** Rounded durations: the index does not need the decode times of the file to be exact. */
const maxSkewSeconds = 0.02;

/**
 * Holds parts until {@link flush}, since a write costs more than its bytes: a crash loses these and the current part. A disk that
 * is too slow ends the recording.
 */
export class RecordingWriter {
  readonly #options: RecordingWriterOptions;
  readonly #timeline = new RecordingTimeline();
  readonly #spans: RecordingSpan[] = [];
  #tracks: readonly TrackDescription[] | undefined;
  readonly #queue: QueuedPart[] = [];
  #queuedBytes = 0;
  #open: OpenFile | undefined;
  #index: RecordingIndex | undefined;
  #isStopped = false;
  #hasReportedStop = false;
  #work: Promise<void> | undefined;

  constructor(options: RecordingWriterOptions) {
    this.#options = options;
  }

  /** Ignores parts after the writer stopped. @throws AppError `media-malformed` */
  add({ tracks, fragment, samples, stored }: RecordablePart): void {
    if (this.#isStopped) {
      stored?.(undefined);
      return;
    }
    if (this.#queuedBytes + fragment.length > (this.#options.maxQueuedBytes ?? defaultMaxQueuedBytes)) {
      stored?.(undefined);
      this.#stop('disk-slow', undefined);
      return;
    }
    const { span, shifts } = this.#place(tracks, samples);
    const fileShifts = shiftsToFile(span, shifts);
    const pieces = fileShifts === undefined ? [fragment] : shiftedPieces(fragment, span, fileShifts);
    this.#queue.push({ span, pieces, bytes: fragment.length, samples, fileShifts, shifts, stored });
    this.#queuedBytes += fragment.length;
    if (this.#queuedBytes >= maxUnflushedBytes) this.flush();
  }

  /** Begins to write what was added. */
  flush(): void {
    if (this.#queue.length > 0) this.#work ??= this.#writeAll();
  }

  /** Never rejects. The caller finishes the index. */
  async finish(): Promise<WrittenRecording> {
    this.#isStopped = true;
    this.flush();
    await this.#work;
    await this.#closeFile().catch(() => {});
    const spans = this.#spans.filter(({ fragments }) => fragments > 0);
    if (spans.length !== 1) await this.#dropIndex();
    return { spans, index: this.#index };
  }

  #place(
    tracks: readonly TrackDescription[],
    samples: readonly LocatedSample[],
  ): { span: RecordingSpan; shifts: ReadonlyMap<number, number> } {
    const newest = this.#spans.at(-1);
    // An encoder that reconnects with the same tracks continues the same file.
    const isSame = newest !== undefined && (tracks === this.#tracks || newest.hasTracks(tracks));
    this.#tracks = tracks;
    if (isSame) return { span: newest, shifts: this.#timeline.place(samples, tracks) };
    this.#timeline.beginTracks();
    const shifts = this.#timeline.place(samples, tracks);
    const offsets = tracks.map(track => [track, this.#timeline.offsetTicks(track)] as const);
    const isNear = offsets.every(
      ([{ timescale }, ticks]) => ticks >= 0 && ticks <= maxStartSeconds * timescale,
    );
    const startTicks = new Map(offsets.map(([{ id }, ticks]) => [id, isNear ? ticks : 0]));
    const span = new RecordingSpan(
      this.#options.folder,
      spanName(this.#spans.length + (this.#options.firstSpan ?? 1)),
      tracks,
      startTicks,
    );
    this.#spans.push(span);
    return { span, shifts };
  }

  async #writeAll(): Promise<void> {
    try {
      if (!(await this.#options.opened)) {
        this.#isStopped = true;
        this.#dropQueue();
      }
      while (this.#queue.length > 0) {
        const span = this.#queue[0]!.span;
        let count = 0;
        while (count < maxPartsPerWrite && this.#queue[count]?.span === span) count += 1;
        const parts = this.#queue.slice(0, count);
        await this.#write(span, parts);
        this.#queue.splice(0, count);
        for (const { bytes } of parts) this.#queuedBytes -= bytes;
        if (this.#index?.isFull) await this.#index.flush();
      }
    } catch (error) {
      this.#stop(isDiskFull(error) ? 'disk-low' : 'disk-error', error);
      this.#dropQueue();
    }
    this.#work = undefined;
  }

  #dropQueue(): void {
    const lost = this.#queue.splice(0);
    this.#queuedBytes = 0;
    for (const { stored } of lost) stored?.(undefined);
  }

  async #write(span: RecordingSpan, parts: readonly QueuedPart[]): Promise<void> {
    const { handle, file } = this.#open?.span === span ? this.#open : await this.#openFile(span);
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
    await writeFully(
      handle,
      parts.flatMap(({ pieces }) => pieces),
      span.bytes,
    );
    for (const { samples, shifts, fileShifts, bytes: partBytes, stored } of parts) {
      const position = span.bytes;
      span.add(samples, partBytes, fileShifts);
      this.#addToIndex({ samples, position, shifts });
      stored?.(file === undefined || fileShifts !== undefined ? undefined : { file, offset: position });
    }
    this.#options.onWritten(bytes, span, this.#spans[0]!.path);
  }

  async #closeFile(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    if (open?.file !== undefined) this.#options.sharedFiles?.complete(open.file);
    await open?.handle.close();
  }

  async #openFile(span: RecordingSpan): Promise<OpenFile> {
    await this.#closeFile();
    await mkdir(this.#options.folder, { recursive: true });
    if (this.#spans[0] === span) this.#index = await this.#options.makeIndex(span.tracks);
    else await this.#dropIndex();
    const handle = await open(span.path, 'wx');
    const file = await this.#options.sharedFiles?.link(span.path);
    this.#open = { span, handle, file };
    await writeFully(handle, [span.head], 0);
    return this.#open;
  }

  #addToIndex(placed: PlacedSamples): void {
    try {
      this.#index?.add(placed);
    } catch {
      void this.#dropIndex();
    }
  }

  async #dropIndex(): Promise<void> {
    const index = this.#index;
    this.#index = undefined;
    await index?.close().catch(() => {});
  }

  #stop(reason: StopReason, error: unknown): void {
    this.#isStopped = true;
    if (this.#hasReportedStop) return;
    this.#hasReportedStop = true;
    this.#options.onStopped(reason, error);
  }
}

/** Undefined when the part can be written as it is. */
function shiftsToFile(
  { tracks, startTicks }: RecordingSpan,
  shifts: ReadonlyMap<number, number>,
): ReadonlyMap<number, number> | undefined {
  const fileShifts = new Map<number, number>();
  let isShifted = false;
  for (const { id, timescale } of tracks) {
    const shift = shifts.get(id);
    if (shift === undefined) continue;
    const fileShift = shift + (startTicks.get(id) ?? 0);
    isShifted ||= Math.abs(fileShift) > maxSkewSeconds * timescale;
    fileShifts.set(id, fileShift);
  }
  return isShifted ? fileShifts : undefined;
}

function shiftedPieces(
  fragment: Buffer,
  { tracks }: RecordingSpan,
  shifts: ReadonlyMap<number, number>,
): readonly Buffer[] {
  const ids = tracks.map(({ id }) => id);
  const layout = readFragmentLayout(fragment, ids);
  return [shiftDecodeTimes(fragment, layout, shifts), fragment.subarray(layout.moofBytes)];
}
