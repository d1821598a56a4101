import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { type FragmentLayout, shiftDecodeTimes } from '../../media/cmaf/fragment-layout.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { LocatedSample } from '../../media/cmaf/movie-fragment.ts';
import { isDiskFull } from '../../shared/files/disk-error.ts';
import { writeFully } from '../../storage/write-fully.ts';
import type { RecordingIndex } from './recording-index.ts';
import { RecordingSpan, spanName } from './recording-span.ts';
import { RecordingTimeline } from './recording-timeline.ts';

export type StopReason = 'disk-low' | 'disk-slow' | 'disk-error' | 'storage-limit';

interface RecordingWriterOptions {
  readonly folder: string;
  readonly makeIndex: (tracks: readonly TrackDescription[]) => Promise<RecordingIndex>;
  /** Called at most once, when the writer accepts no more parts. */
  readonly onStopped: (reason: StopReason, error: unknown) => void;
  readonly onWritten: (bytes: number, seconds: number, path: string) => void;
  readonly maxQueuedBytes?: number;
}

export interface RecordablePart {
  /** The same object while the tracks do not change. */
  readonly tracks: readonly TrackDescription[];
  readonly fragment: Buffer;
  readonly layout: FragmentLayout;
}

export interface WrittenRecording {
  readonly spans: readonly RecordingSpan[];
  /** Undefined with several spans, or if the span must be encoded. */
  readonly index: RecordingIndex | undefined;
}

interface QueuedPart {
  readonly span: RecordingSpan;
  readonly moof: Buffer;
  readonly rest: Buffer;
  readonly samples: readonly LocatedSample[];
  /** Offsets of decode times in ticks, by track. */
  readonly shifts: ReadonlyMap<number, number>;
}

const defaultMaxQueuedBytes = 16 * 1024 * 1024;
/** Two buffers per part stay below IOV_MAX (1024). */
const maxPartsPerWrite = 200;

/** A crash loses at most the current part. A disk that is too slow ends the recording. */
export class RecordingWriter {
  readonly #options: RecordingWriterOptions;
  readonly #timeline = new RecordingTimeline();
  readonly #spans: RecordingSpan[] = [];
  #tracks: readonly TrackDescription[] | undefined;
  readonly #queue: QueuedPart[] = [];
  #queuedBytes = 0;
  #open: { readonly span: RecordingSpan; readonly handle: FileHandle } | undefined;
  #index: RecordingIndex | undefined;
  #isStopped = false;
  #hasReportedStop = false;
  #work: Promise<void> | undefined;

  constructor(options: RecordingWriterOptions) {
    this.#options = options;
  }

  /** Ignores parts after the writer stopped. @throws AppError `media-malformed` */
  add({ tracks, fragment, layout }: RecordablePart): void {
    if (this.#isStopped) return;
    if (this.#queuedBytes + fragment.length > (this.#options.maxQueuedBytes ?? defaultMaxQueuedBytes)) {
      this.#stop('disk-slow', undefined);
      return;
    }
    const span = this.#spanFor(tracks);
    const shifts = this.#timeline.place(layout, tracks);
    const moof = shiftDecodeTimes(fragment, layout, shifts);
    const rest = fragment.subarray(layout.moofBytes);
    this.#queue.push({ span, moof, rest, samples: layout.samples, shifts });
    this.#queuedBytes += fragment.length;
    this.#work ??= this.#writeAll();
  }

  /** Never rejects. The caller finishes the index. */
  async finish(): Promise<WrittenRecording> {
    this.#isStopped = true;
    await this.#work;
    await this.#open?.handle.close().catch(() => {});
    this.#open = undefined;
    const spans = this.#spans.filter(({ fragments }) => fragments > 0);
    if (spans.length !== 1) await this.#dropIndex();
    return { spans, index: this.#index };
  }

  #spanFor(tracks: readonly TrackDescription[]): RecordingSpan {
    const newest = this.#spans.at(-1);
    if (newest !== undefined && tracks === this.#tracks) return newest;
    this.#tracks = tracks;
    const next = new RecordingSpan(this.#options.folder, spanName(this.#spans.length + 1), tracks);
    // An encoder that reconnects with the same tracks continues the same file.
    if (newest?.head.equals(next.head)) return newest;
    this.#spans.push(next);
    this.#timeline.beginTracks();
    return next;
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#queue.length > 0) {
        const span = this.#queue[0]!.span;
        let count = 0;
        while (count < maxPartsPerWrite && this.#queue[count]?.span === span) count += 1;
        await this.#write(span, this.#queue.slice(0, count));
        for (const { moof, rest } of this.#queue.splice(0, count))
          this.#queuedBytes -= moof.length + rest.length;
        if (this.#index?.isFull) await this.#index.flush();
      }
    } catch (error) {
      this.#queue.length = 0;
      this.#queuedBytes = 0;
      this.#stop(isDiskFull(error) ? 'disk-low' : 'disk-error', error);
    }
    this.#work = undefined;
  }

  async #write(span: RecordingSpan, parts: readonly QueuedPart[]): Promise<void> {
    const handle = await this.#handleOf(span);
    const position = span.bytes;
    const pieces = parts.flatMap(({ moof, rest }) => [moof, rest]);
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    await writeFully(handle, pieces, position);
    for (const { moof, rest, samples, shifts } of parts) {
      const placed = samples.map(sample => ({
        ...sample,
        dtsTicks: sample.dtsTicks + (shifts.get(sample.trackId) ?? 0),
        position: span.bytes + sample.position,
      }));
      span.add(placed, moof.length + rest.length);
      this.#addToIndex(placed);
    }
    this.#options.onWritten(bytes, span.endSeconds, this.#spans[0]!.path);
  }

  async #handleOf(span: RecordingSpan): Promise<FileHandle> {
    if (this.#open?.span === span) return this.#open.handle;
    await this.#open?.handle.close();
    this.#open = undefined;
    await mkdir(this.#options.folder, { recursive: true });
    if (this.#spans[0] === span) this.#index = await this.#options.makeIndex(span.tracks);
    else await this.#dropIndex();
    const handle = await open(span.path, 'wx');
    this.#open = { span, handle };
    await writeFully(handle, [span.head], 0);
    return handle;
  }

  #addToIndex(samples: readonly LocatedSample[]): void {
    try {
      this.#index?.add(samples);
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
