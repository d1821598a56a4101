import { type FileHandle, open } from 'node:fs/promises';
import type { FileSlice } from '../../shared/files/file-slice.ts';
import type { Logger } from '../../shared/logger.ts';
import { writeFully } from '../../storage/write-fully.ts';
import type { LiveDiskSpace } from './live-disk-space.ts';
import type { LiveFiles } from './live-files.ts';
import type { PartLocation, PartStore } from './part-store.ts';

export interface FilePartStoreOptions {
  readonly files: LiveFiles;
  readonly diskSpace: LiveDiskSpace;
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

type Media = Parameters<PartStore['write']>[0];

interface QueuedWrite {
  readonly media: Media;
  readonly onStored: (location: PartLocation) => void;
}

/** Writes one at a time. The caller holds queued media in memory, and cancels the write of a segment that it drops. */
export class FilePartStore implements PartStore {
  readonly #options: FilePartStoreOptions;
  readonly #chunkSeconds: number;
  readonly #write: typeof writeFully;
  #queue: QueuedWrite[] = [];
  #running: Promise<void> | undefined;
  #runningSequence: number | undefined;
  #chunk: OpenChunk | undefined;
  #isClosed = false;

  constructor(options: FilePartStoreOptions) {
    this.#options = options;
    this.#chunkSeconds = options.chunkSeconds ?? 60;
    this.#write = options.write ?? writeFully;
  }

  write(media: Media, onStored: (location: PartLocation) => void): void {
    if (this.#isClosed || !this.#options.diskSpace.hasSpace()) return;
    this.#queue.push({ media, onStored });
    this.#running ??= this.#runQueue();
  }

  cancelWrite(sequence: number): void {
    const waiting = this.#queue.filter(({ media }) => media.sequence !== sequence);
    const isCanceled = waiting.length < this.#queue.length;
    this.#queue = waiting;
    if (isCanceled || this.#runningSequence === sequence) this.#options.diskSpace.writeLagged();
  }

  retain(file: number): void {
    this.#options.files.retain(file);
  }

  release(file: number): void {
    this.#options.files.release(file);
  }

  finish(): void {
    void this.settled().then(() => this.#closeChunk());
  }

  slice({ file, offset }: PartLocation, bytes: number): FileSlice {
    return { path: this.#options.files.pathOf(file), start: offset, length: bytes };
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

  async #runQueue(): Promise<void> {
    // Lets the caller continue first: writing is less urgent than the media.
    await Promise.resolve();
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      this.#runningSequence = next.media.sequence;
      try {
        await this.#append(next);
        this.#options.diskSpace.writeSucceeded();
      } catch (error) {
        this.#options.diskSpace.writeFailed(error);
        // Media on disk stays.
        this.#queue = [];
        this.#options.files.writeFailed();
        await this.#closeChunk();
      }
      this.#runningSequence = undefined;
    }
    this.#running = undefined;
  }

  async #append({ media, onStored }: QueuedWrite): Promise<void> {
    const chunk = this.#chunk ?? (await this.#openChunk());
    const offset = chunk.bytes;
    await this.#write(chunk.handle, media.body, offset);
    chunk.bytes += media.bytes;
    chunk.seconds += media.durationSeconds;
    if (!this.#isClosed) onStored({ file: chunk.number, offset });
    if (chunk.seconds >= this.#chunkSeconds) await this.#closeChunk();
  }

  async #openChunk(): Promise<OpenChunk> {
    const { files } = this.#options;
    const { number, path } = await files.create();
    try {
      const handle = await open(path, 'w');
      this.#chunk = { number, handle, bytes: 0, seconds: 0 };
      return this.#chunk;
    } catch (error) {
      files.complete(number);
      throw error;
    }
  }

  async #closeChunk(): Promise<void> {
    const chunk = this.#chunk;
    if (chunk === undefined) return;
    this.#chunk = undefined;
    try {
      await chunk.handle.close();
    } catch (error) {
      this.#options.log.warn('live-file-not-closed', { error });
    }
    this.#options.files.complete(chunk.number);
  }
}
