import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { type FragmentLayout, shiftDecodeTimes } from '../../media/cmaf/fragment-layout.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { LocatedSample } from '../../media/cmaf/movie-fragment.ts';
import { isDiskFull } from '../../shared/files/disk-error.ts';
import { writeFully } from '../../storage/write-fully.ts';
import type { RecordingIndex } from './recording-index.ts';
import { RecordingSpan, spanName } from './recording-span.ts';
import { RecordingTimeline } from './recording-timeline.ts';

/** Why a recording was stopped before its broadcast ended. */
export type StopReason = 'disk-low' | 'disk-slow' | 'disk-error' | 'storage-limit';

/** How a recording is written. */
export interface RecordingWriterOptions {
  /** The video's; made here. */
  readonly folder: string;
  /** Makes the index of the first tracks. */
  readonly makeIndex: (tracks: readonly TrackDescription[]) => Promise<RecordingIndex>;
  /** It takes no more parts, for this reason. Called once at most. */
  readonly onStopped: (reason: StopReason, error: unknown) => void;
  /** `seconds`: how long the recording is now; `path` of its first file. */
  readonly onWritten: (bytes: number, seconds: number, path: string) => void;
  /** What may wait to be written. Default 16 MiB. */
  readonly maxQueuedBytes?: number;
}

/** A part as a recorder gives it. */
export interface RecordablePart {
  /** The same object for as long as they do not change. */
  readonly tracks: readonly TrackDescription[];
  readonly fragment: Buffer;
  readonly layout: FragmentLayout;
}

/** What was written. */
export interface WrittenRecording {
  readonly spans: readonly RecordingSpan[];
  /** Of the only span; undefined where there are several, or it cannot be played as it is. */
  readonly index: RecordingIndex | undefined;
}

interface Waiting {
  readonly span: RecordingSpan;
  readonly moof: Buffer;
  /** What follows the `moof`. */
  readonly rest: Buffer;
  readonly samples: readonly LocatedSample[];
  /** What was added to their times, in ticks, by track. */
  readonly shifts: ReadonlyMap<number, number>;
}

const defaultMaxQueuedBytes = 16 * 1024 * 1024;
/** Below what one call takes (IOV_MAX is 1024). */
const maxPartsPerWrite = 200;

/**
 * Writes a recording: each part is appended to a file as it comes, so that whatever ends the server loses the part that is under way at
 * most. Nothing waits for the disk; what waits to be written has a bound, and a disk that is slower ends the recording.
 */
export class RecordingWriter {
  readonly #options: RecordingWriterOptions;
  readonly #clock = new RecordingTimeline();
  readonly #spans: RecordingSpan[] = [];
  #tracks: readonly TrackDescription[] | undefined;
  readonly #queue: Waiting[] = [];
  #queuedBytes = 0;
  #open: { readonly span: RecordingSpan; readonly handle: FileHandle } | undefined;
  #index: RecordingIndex | undefined;
  #isStopped = false;
  #hasTold = false;
  #work: Promise<void> | undefined;

  constructor(options: RecordingWriterOptions) {
    this.#options = options;
  }

  /** Takes a part and returns at once. After it was stopped, parts are passed over. @throws AppError `media-malformed` */
  add({ tracks, fragment, layout }: RecordablePart): void {
    if (this.#isStopped) return;
    if (this.#queuedBytes + fragment.length > (this.#options.maxQueuedBytes ?? defaultMaxQueuedBytes)) {
      this.#stop('disk-slow', undefined);
      return;
    }
    const span = this.#spanFor(tracks);
    const shifts = this.#clock.place(layout, tracks);
    const moof = shiftDecodeTimes(fragment, layout, shifts);
    const rest = fragment.subarray(layout.moofBytes);
    this.#queue.push({ span, moof, rest, samples: layout.samples, shifts });
    this.#queuedBytes += fragment.length;
    this.#work ??= this.#writeAll();
  }

  /** Takes no more parts, and resolves when all that it has is in its files. Never rejects. Its owner ends the index. */
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
    // An encoder that came back as it was goes on in the same file.
    if (newest?.head.equals(next.head)) return newest;
    this.#spans.push(next);
    this.#clock.beginTracks();
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

  async #write(span: RecordingSpan, parts: readonly Waiting[]): Promise<void> {
    const handle = await this.#handleOf(span);
    const position = span.bytes;
    const pieces = parts.flatMap(({ moof, rest }) => [moof, rest]);
    const wanted = pieces.reduce((sum, { length }) => sum + length, 0);
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
    this.#options.onWritten(wanted, span.endSeconds, this.#spans[0]!.path);
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
      // It is encoded, as any other file that cannot be played as it is.
      void this.#dropIndex();
    }
  }

  async #dropIndex(): Promise<void> {
    const index = this.#index;
    this.#index = undefined;
    // Nobody reads it, whatever the disk says.
    await index?.close().catch(() => {});
  }

  #stop(reason: StopReason, error: unknown): void {
    this.#isStopped = true;
    if (this.#hasTold) return;
    this.#hasTold = true;
    this.#options.onStopped(reason, error);
  }
}
