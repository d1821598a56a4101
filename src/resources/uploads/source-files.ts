import { mkdirSync, renameSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { type MediaFiles, syncFolderOf } from '../../storage/media-files.ts';

const partialName = 'source.partial';
const copyBytes = 2 * 1_024 * 1_024;

/** Below the data folder: `vod/<videoId>/source` and `uploads/<videoId>/<first>`. */
export class SourceFiles {
  readonly #media: MediaFiles;
  readonly #minFreeBytes: number;

  constructor(options: { media: MediaFiles; minFreeBytes: number }) {
    this.#media = options.media;
    this.#minFreeBytes = options.minFreeBytes;
  }

  source(videoId: string): string {
    return this.#media.source(videoId);
  }

  partial(videoId: string): string {
    return this.#media.video(videoId, partialName);
  }

  chunk(videoId: string, first: number): string {
    return this.#media.upload(videoId, String(first));
  }

  /** Synchronous, for use in a transaction. Does nothing when both paths are the same. */
  move(from: string, to: string): void {
    mkdirSync(dirname(to), { recursive: true });
    renameSync(from, to);
  }

  async publishPartial(videoId: string): Promise<void> {
    await this.#media.publish(this.partial(videoId), this.source(videoId));
    await syncFolderOf(this.source(videoId));
  }

  /** @throws AppError `disk-full` */
  checkRoom(bytes: number): Promise<void> {
    return this.#media.ensureFreeSpace(bytes, this.#minFreeBytes);
  }

  /** @throws AppError `disk-full`; see {@link MediaFiles.expectRoom} */
  expectRoom(bytes: number): Promise<void> {
    return this.#media.expectRoom(bytes, this.#minFreeBytes);
  }

  async removeChunks(videoId: string): Promise<void> {
    await this.removeAside(this.putChunksAside(videoId));
  }

  /** Synchronous, for use in a transaction. Returns the path to remove; undefined when there are no chunks. */
  putChunksAside(videoId: string): string | undefined {
    return this.#media.renameForRemoval(this.#media.upload(videoId));
  }

  async removeAside(path: string | undefined): Promise<void> {
    if (path !== undefined) await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }

  async removePartial(videoId: string): Promise<void> {
    await rm(this.partial(videoId), { force: true });
    await rm(`${this.partial(videoId)}.tag`, { force: true });
  }

  async removeSource(videoId: string): Promise<void> {
    await rm(this.source(videoId), { force: true });
  }
}

/** Reads ahead by one buffer of 2 MiB. @throws Error when a piece has another size */
export async function joinFiles(
  pieces: readonly { readonly path: string; readonly bytes: number }[],
  to: string,
  signal: AbortSignal,
  report: (bytes: number) => void,
): Promise<void> {
  const buffers = [Buffer.allocUnsafe(copyBytes), Buffer.allocUnsafe(copyBytes)];
  let bufferIndex = 0;
  let writing: Promise<unknown> = Promise.resolve();
  let written = 0;
  const target = await open(to, 'w');
  try {
    for (const { path, bytes } of pieces) {
      const piece = await open(path, 'r');
      try {
        let read = 0;
        for (;;) {
          signal.throwIfAborted();
          bufferIndex = 1 - bufferIndex;
          const buffer = buffers[bufferIndex]!;
          const { bytesRead } = await piece.read(buffer, 0, copyBytes, null);
          await writing;
          if (bytesRead === 0) break;
          read += bytesRead;
          written += bytesRead;
          writing = writeAll(target, buffer.subarray(0, bytesRead));
          // Awaited before the next write; a rejection until then must not be unhandled.
          writing.catch(() => {});
          report(written);
        }
        if (read !== bytes) throw new Error(`${basename(path)} has ${read} bytes in place of ${bytes}`);
      } finally {
        await piece.close();
      }
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
