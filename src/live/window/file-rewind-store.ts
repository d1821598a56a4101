import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileSlice } from '../../shared/files/file-slice.ts';
import type { Logger } from '../../shared/logger.ts';
import { writeFully } from '../../storage/write-fully.ts';
import type { RewindDiskSpace } from './rewind-disk-space.ts';
import type { RewindSegment, RewindStore, SegmentLocation } from './rewind-store.ts';

export interface FileRewindStoreOptions {
  readonly folder: string;
  readonly diskSpace: RewindDiskSpace;
  readonly log: Logger;
  readonly chunkSeconds?: number;
  readonly write?: typeof writeFully;
}

interface OpenChunk {
  readonly number: number;
  readonly handle: FileHandle;
  bytes: number;
  seconds: number;
}

interface QueuedWrite {
  /** Undefined for an init section. */
  readonly sequence: number | undefined;
  run(): Promise<void>;
}

/** Offsets are kept in 32 bits. */
const maxChunkBytes = 1024 ** 3;

/** Writes one at a time. The caller holds queued segments in memory, and cancels the write of one that it drops. */
export class FileRewindStore implements RewindStore {
  readonly #options: FileRewindStoreOptions;
  readonly #chunkSeconds: number;
  readonly #write: typeof writeFully;
  #queue: QueuedWrite[] = [];
  #running: Promise<void> | undefined;
  #runningSequence: number | undefined;
  #openedChunk: OpenChunk | undefined;
  #chunkCount = 0;
  readonly #chunks: { readonly number: number; lastSequence: number }[] = [];
  readonly #inits: number[] = [];
  #hasFolder = false;
  #isClosed = false;

  constructor(options: FileRewindStoreOptions) {
    this.#options = options;
    this.#chunkSeconds = options.chunkSeconds ?? 60;
    this.#write = options.write ?? writeFully;
  }

  writeSegment(segment: RewindSegment, onKept: (place: SegmentLocation) => void): void {
    this.#enqueue({ sequence: segment.sequence, run: () => this.#writeSegment(segment, onKept) });
  }

  writeInit(number: number, body: Buffer, onKept: () => void): void {
    this.#enqueue({ sequence: undefined, run: () => this.#writeInit(number, body, onKept) });
  }

  cancelWrite(sequence: number): void {
    const at = this.#queue.findIndex(work => work.sequence === sequence);
    if (at !== -1) this.#queue.splice(at, 1);
    if (at !== -1 || this.#runningSequence === sequence) this.#options.diskSpace.writeLagged();
  }

  removeBefore(sequence: number, init: number): void {
    for (;;) {
      const oldest = this.#chunks[0];
      if (
        oldest === undefined ||
        oldest.lastSequence >= sequence ||
        oldest.number === this.#openedChunk?.number
      )
        break;
      this.#chunks.shift();
      void this.#remove(this.#chunkPath(oldest.number));
    }
    while (this.#inits.length > 0 && this.#inits[0]! < init) {
      void this.#remove(this.#initPath(this.#inits.shift()!));
    }
  }

  finish(): void {
    void this.settled().then(() => this.#closeChunk());
  }

  segment({ chunk, offset }: SegmentLocation, bytes: number): FileSlice {
    return { path: this.#chunkPath(chunk), start: offset, length: bytes };
  }

  init(number: number, bytes: number): FileSlice {
    return { path: this.#initPath(number), start: 0, length: bytes };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#queue = [];
    await this.#running;
    await this.#closeChunk();
  }

  async settled(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  #enqueue(work: QueuedWrite): void {
    if (this.#isClosed || !this.#options.diskSpace.hasSpace()) return;
    this.#queue.push(work);
    this.#running ??= this.#runQueue();
  }

  async #runQueue(): Promise<void> {
    // Lets the caller continue first: writing is less urgent than the media.
    await Promise.resolve();
    for (let work = this.#queue.shift(); work !== undefined; work = this.#queue.shift()) {
      this.#runningSequence = work.sequence;
      try {
        await work.run();
        this.#options.diskSpace.writeSucceeded();
      } catch (error) {
        this.#options.diskSpace.writeFailed(error);
        // Segments on disk stay.
        this.#queue = [];
        // The folder may have been removed.
        this.#hasFolder = false;
        await this.#closeChunk();
      }
      this.#runningSequence = undefined;
    }
    this.#running = undefined;
  }

  async #writeSegment(segment: RewindSegment, onKept: (place: SegmentLocation) => void): Promise<void> {
    const chunk = this.#openedChunk ?? (await this.#openChunk());
    const offset = chunk.bytes;
    await this.#write(chunk.handle, segment.body, offset);
    chunk.bytes += segment.bytes;
    chunk.seconds += segment.durationSeconds;
    const newest = this.#chunks.at(-1);
    if (newest?.number === chunk.number) newest.lastSequence = segment.sequence;
    else this.#chunks.push({ number: chunk.number, lastSequence: segment.sequence });
    if (chunk.seconds >= this.#chunkSeconds || chunk.bytes >= maxChunkBytes) await this.#closeChunk();
    if (!this.#isClosed) onKept({ chunk: chunk.number, offset });
  }

  async #writeInit(number: number, body: Buffer, onKept: () => void): Promise<void> {
    await this.#makeFolder();
    const handle = await open(this.#initPath(number), 'w');
    try {
      await this.#write(handle, [body], 0);
    } finally {
      await handle.close();
    }
    this.#inits.push(number);
    if (!this.#isClosed) onKept();
  }

  async #openChunk(): Promise<OpenChunk> {
    await this.#makeFolder();
    const number = this.#chunkCount + 1;
    const handle = await open(this.#chunkPath(number), 'w');
    this.#chunkCount = number;
    this.#openedChunk = { number, handle, bytes: 0, seconds: 0 };
    return this.#openedChunk;
  }

  async #closeChunk(): Promise<void> {
    const chunk = this.#openedChunk;
    if (chunk === undefined) return;
    this.#openedChunk = undefined;
    try {
      await chunk.handle.close();
    } catch (error) {
      this.#options.log.warn('rewind-file-not-closed', { error });
    }
    if (chunk.bytes === 0) await this.#remove(this.#chunkPath(chunk.number));
  }

  async #makeFolder(): Promise<void> {
    if (this.#hasFolder) return;
    await mkdir(this.#options.folder, { recursive: true });
    this.#hasFolder = true;
  }

  async #remove(path: string): Promise<void> {
    try {
      await rm(path, { force: true });
    } catch (error) {
      this.#options.log.warn('rewind-file-not-removed', { path, error });
    }
  }

  #chunkPath(number: number): string {
    return join(this.#options.folder, `chunk-${number}.m4s`);
  }

  #initPath(number: number): string {
    return join(this.#options.folder, `init-${number}.mp4`);
  }
}
