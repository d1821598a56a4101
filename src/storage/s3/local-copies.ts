import { type FileHandle, link, mkdir, open, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { toMachineError } from '../../shared/files/disk-error.ts';
import { newUuid } from '../../shared/ids.ts';
import { writeFully } from '../write-fully.ts';
import type { BlockReader, RemoteFile } from './block-reader.ts';
import type { S3Objects } from './s3-objects.ts';
import type { StorageCache } from './storage-cache.ts';

const downloadedAtOnceBytes = 4 * 1024 ** 2;
const maxParallelReads = 4;

interface LocalCopy {
  readonly path: string;
  readonly ready: Promise<void>;
  readonly cancel: AbortController;
  users: number;
}

/** Downloads stored files for programs. A copy lasts until its last user is done, whatever the cache does meanwhile. */
export class LocalCopies {
  readonly #objects: S3Objects;
  readonly #cache: StorageCache;
  readonly #reader: BlockReader;
  readonly #copies = new Map<string, LocalCopy>();

  constructor(objects: S3Objects, cache: StorageCache, reader: BlockReader) {
    this.#objects = objects;
    this.#cache = cache;
    this.#reader = reader;
  }

  async use<Result>(
    file: RemoteFile,
    work: (localPath: string) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const id = `${file.key}/${file.version.etag}`;
    const copy = this.#copies.get(id) ?? this.#begin(id, file);
    copy.users += 1;
    try {
      await untilAborted(copy.ready, signal);
      return await work(copy.path);
    } finally {
      copy.users -= 1;
      if (copy.users === 0) await this.#end(id, copy);
    }
  }

  #begin(id: string, file: RemoteFile): LocalCopy {
    const cancel = new AbortController();
    const path = join(this.#cache.scratchFolder, newUuid(), basename(file.path));
    const ready = this.#make(file, path, cancel.signal);
    // Ignores the error here: each user sees it.
    ready.catch(() => {});
    const copy = { path, ready, cancel, users: 0 };
    this.#copies.set(id, copy);
    return copy;
  }

  async #end(id: string, copy: LocalCopy): Promise<void> {
    if (this.#copies.get(id) === copy) this.#copies.delete(id);
    copy.cancel.abort(new Error('Nobody needs the file any more'));
    await copy.ready.catch(() => {});
    await rm(join(copy.path, '..'), { recursive: true, force: true, maxRetries: 3 });
  }

  async #make(file: RemoteFile, path: string, signal: AbortSignal): Promise<void> {
    const { key, version } = file;
    try {
      await mkdir(join(path, '..'), { mode: 0o700 });
      if (await this.#cache.linkTo(key, version, path)) return;
      await this.#cache.requireRoom(version.bytes);
      await this.#download(file, path, signal);
      const cached = `${path}.cached`;
      // File systems without links get no cached copy.
      const isLinked = await link(path, cached).then(
        () => true,
        () => false,
      );
      if (isLinked) await this.#cache.adopt(key, version, cached);
    } catch (error) {
      throw toMachineError(this.#reader.staleError(error, file));
    }
  }

  async #download({ key, version }: RemoteFile, path: string, signal: AbortSignal): Promise<void> {
    await using file = await open(path, 'wx', 0o600);
    const failure = new AbortController();
    const stop = AbortSignal.any([signal, failure.signal]);
    const starts = startsOf(version.bytes);
    const readers = Array.from({ length: maxParallelReads }, async () => {
      try {
        for (const start of starts) await this.#downloadPart(file, key, { ...version, start }, stop);
      } catch (error) {
        failure.abort(error);
        throw error;
      }
    });
    await Promise.allSettled(readers);
    await Promise.all(readers);
    await file.datasync();
  }

  async #downloadPart(
    file: FileHandle,
    key: string,
    { start, ...version }: { readonly etag: string; readonly bytes: number; readonly start: number },
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted();
    const length = Math.min(downloadedAtOnceBytes, version.bytes - start);
    const bytes = await this.#objects.read(key, version, { start, length }, signal);
    await writeFully(file, [bytes], start);
  }
}

function* startsOf(bytes: number): Generator<number> {
  for (let start = 0; start < bytes; start += downloadedAtOnceBytes) yield start;
}

function untilAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return work;
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', onAbort));
}
