import { mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { UploadedFile } from '../../../http/routing/route.ts';
import { toMachineError } from '../../../shared/files/disk-error.ts';
import { syncFile } from '../../../storage/data-folder-storage.ts';
import { isNotFound } from '../../../storage/folder-names.ts';
import { type MediaFiles, syncFolderOf } from '../../../storage/media-files.ts';

const partialName = 'source.partial';
const copyBytes = 2 * 1_024 * 1_024;

interface ChunkName {
  readonly first: number;
  readonly file: string | null;
}

/** `vod/<videoId>/source` and `uploads/<videoId>/<chunk>`, below the data folder or in object storage. */
export class SourceFiles {
  readonly #media: MediaFiles;
  readonly #minFreeBytes: () => number;

  constructor(media: MediaFiles, minFreeBytes: () => number) {
    this.#media = media;
    this.#minFreeBytes = minFreeBytes;
  }

  source(videoId: string): string {
    return this.#media.source(videoId);
  }

  partial(videoId: string): string {
    return this.#media.video(videoId, partialName);
  }

  chunk(videoId: string, { first, file }: ChunkName): string {
    return this.#media.upload(videoId, file ?? String(first));
  }

  /** Chunks are in the data folder: a transaction can move them. */
  get areLocal(): boolean {
    return this.#media.storage.kind === 'data-folder';
  }

  /** Synchronous, for use in a transaction. Does nothing when both paths are the same. @returns the inode of the file */
  move(from: string, to: string): number {
    mkdirSync(dirname(to), { recursive: true });
    renameSync(from, to);
    return statSync(to).ino;
  }

  /** Removes a moved file, unless another one is in its place. */
  removeMoved(path: string, inode: number): void {
    if (statSync(path, { throwIfNoEntry: false })?.ino === inode) rmSync(path);
  }

  /** @throws AppError `disk-full` */
  async syncToDisk({ path }: UploadedFile): Promise<void> {
    try {
      await syncFile(path);
    } catch (error) {
      throw toMachineError(error);
    }
  }

  /** The file may have been joined or removed meanwhile. @throws AppError `disk-full` */
  async syncFolderOf(path: string): Promise<void> {
    try {
      await syncFolderOf(path);
    } catch (error) {
      if (!isNotFound(error)) throw toMachineError(error);
    }
  }

  publishChunk(from: string, videoId: string, chunk: ChunkName): Promise<void> {
    return this.#media.storage.publish(from, this.chunk(videoId, chunk));
  }

  async moveChunk(from: string, to: string, chunk: ChunkName): Promise<void> {
    await this.#media.storage.copy(this.chunk(from, chunk), this.chunk(to, chunk));
    await this.removeChunk(from, chunk);
  }

  async removeChunk(videoId: string, chunk: ChunkName): Promise<void> {
    await this.#media.storage.remove(this.chunk(videoId, chunk));
  }

  withLocalChunk<Result>(
    videoId: string,
    chunk: ChunkName,
    work: (path: string) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    return this.#media.storage.withLocal(this.chunk(videoId, chunk), work, signal);
  }

  async publishPartial(videoId: string, signal: AbortSignal): Promise<void> {
    await this.#media.storage.publish(this.partial(videoId), this.source(videoId), signal);
    if (this.areLocal) await syncFolderOf(this.source(videoId));
  }

  /** Copies a file within the storage. @throws Error with the code `ENOENT` when `from` is missing */
  async copyToSource(from: string, videoId: string, signal: AbortSignal): Promise<void> {
    await this.#media.storage.copy(from, this.source(videoId), signal);
    if (this.areLocal) await syncFolderOf(this.source(videoId));
  }

  async sourceBytes(videoId: string): Promise<number | undefined> {
    return (await this.#media.storage.find(this.source(videoId)))?.bytes;
  }

  /** @throws AppError `disk-full` */
  checkRoom(bytes: number): Promise<void> {
    return this.#media.ensureFreeSpace(bytes, this.#minFreeBytes());
  }

  /** @throws AppError `disk-full`; see {@link MediaFiles.expectRoom} */
  expectRoom(bytes: number): Promise<void> {
    return this.#media.expectRoom(bytes, this.#minFreeBytes());
  }

  /**
   * Synchronous, for use in a transaction: the video may get other chunks right after it. Call the returned function
   * to remove them.
   */
  setChunksAside(videoId: string, chunks: readonly ChunkName[]): () => Promise<void> {
    if (!this.areLocal) {
      return async () => {
        for (const chunk of chunks) await this.removeChunk(videoId, chunk);
      };
    }
    const path = this.#media.renameForRemoval(this.#media.upload(videoId));
    return async () => {
      if (path !== undefined) await rm(path, { recursive: true, force: true, maxRetries: 3 });
    };
  }

  async removePartial(videoId: string): Promise<void> {
    await rm(this.partial(videoId), { force: true });
    await rm(`${this.partial(videoId)}.tag`, { force: true });
  }

  /** Removes a video with everything that belongs to it. */
  removeVideo(videoId: string): Promise<void> {
    return this.#media.removeVideo(videoId);
  }

  async removeSource(videoId: string): Promise<void> {
    await this.#media.storage.remove(this.source(videoId));
  }
}

interface Piece {
  readonly name: string;
  readonly bytes: number;
  withLocal(work: (path: string) => Promise<void>): Promise<void>;
}

/** Reads ahead by one buffer of 2 MiB. @throws Error when a piece has another size */
export async function joinFiles(
  pieces: readonly Piece[],
  to: string,
  signal: AbortSignal,
  report: (bytes: number) => void,
): Promise<void> {
  const buffers = [Buffer.allocUnsafe(copyBytes), Buffer.allocUnsafe(copyBytes)];
  let bufferIndex = 0;
  let writing: Promise<unknown> = Promise.resolve();
  let written = 0;
  const target = await open(to, 'w');
  const append = async (path: string): Promise<number> => {
    const piece = await open(path, 'r');
    try {
      for (let read = 0; ; ) {
        signal.throwIfAborted();
        bufferIndex = 1 - bufferIndex;
        const buffer = buffers[bufferIndex]!;
        const { bytesRead } = await piece.read(buffer, 0, copyBytes, null);
        await writing;
        if (bytesRead === 0) return read;
        read += bytesRead;
        written += bytesRead;
        writing = writeAll(target, buffer.subarray(0, bytesRead));
        // Awaited before the next write; a rejection until then must not be unhandled.
        writing.catch(() => {});
        report(written);
      }
    } finally {
      await piece.close();
    }
  };
  try {
    for (const { name, bytes, withLocal } of pieces) {
      await withLocal(async path => {
        const read = await append(path);
        if (read !== bytes) throw new Error(`${name} has ${read} bytes in place of ${bytes}`);
      });
    }
  } finally {
    await writing.catch(() => {});
    await target.close();
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    written += (await handle.write(bytes, written, bytes.length - written)).bytesWritten;
  }
}
