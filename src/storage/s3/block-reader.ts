import { LRUCache } from 'lru-cache';
import { AppError } from '../../shared/errors.ts';
import type { OpenedFile } from '../../shared/files/opened-file.ts';
import { OpenEntries, type ReadTarget } from './open-entries.ts';
import { notFoundError, S3Fault } from './s3-fault.ts';
import type { ObjectName, S3Objects } from './s3-objects.ts';
import type { S3Observer } from './s3-requests.ts';
import { blockBytes, type StorageCache } from './storage-cache.ts';

/** Newest blocks, so that small reads do not open a file each. */
const maxMemoryBytes = 32 * 1024 ** 2;
const maxBlocksAhead = 2;

export interface RemoteFile extends ObjectName {
  /** Path for error messages. */
  readonly path: string;
}

/** Reads stored files in aligned blocks, each with one request for all readers, and caches them. */
export class BlockReader {
  readonly #objects: S3Objects;
  readonly #cache: StorageCache;
  readonly #observer: S3Observer | undefined;
  readonly #onStale: (key: string) => void;
  readonly #memory = new LRUCache<string, Buffer>({
    maxSize: maxMemoryBytes,
    sizeCalculation: bytes => Math.max(bytes.length, 1),
  });
  readonly #fetching = new Map<string, Promise<Buffer>>();

  /** @param onStale called with the key of an object that was replaced or removed elsewhere */
  constructor(options: {
    readonly objects: S3Objects;
    readonly cache: StorageCache;
    readonly observer: S3Observer | undefined;
    readonly onStale: (key: string) => void;
  }) {
    this.#objects = options.objects;
    this.#cache = options.cache;
    this.#observer = options.observer;
    this.#onStale = options.onStale;
  }

  releaseMemory(): void {
    this.#memory.clear();
  }

  open(file: RemoteFile): OpenedFile {
    const entries = new OpenEntries(this.#cache, file);
    let expectedPosition = 0;
    return {
      read: async (into, offset, length, position) => {
        const bytesRead = await this.#read(file, entries, { buffer: into, offset, length }, position);
        const next = Math.floor(position / blockBytes) + 1;
        if (position === expectedPosition || position + length > next * blockBytes) {
          const lastNeeded = Math.floor((position + length) / blockBytes);
          this.#readAhead(file, next, Math.min(Math.max(next, lastNeeded), next + maxBlocksAhead - 1));
        }
        expectedPosition = position + bytesRead;
        return { bytesRead };
      },
      close: () => entries.close(),
    };
  }

  async #read(file: RemoteFile, entries: OpenEntries, into: ReadTarget, position: number): Promise<number> {
    if (into.length === 0 || position >= file.version.bytes) return 0;
    const block = Math.floor(position / blockBytes);
    const id = blockId(file, block);
    const known = this.#memory.get(id) ?? this.#fetching.get(id);
    const bytesRead = known === undefined ? await entries.read(into, position) : undefined;
    const isHit = known !== undefined || bytesRead !== undefined;
    this.#observer?.onCacheRead(isHit ? 'hit' : 'miss');
    if (bytesRead !== undefined) return bytesRead;
    const bytes = await (known ?? this.#fetch(file, block));
    entries.assertOpen();
    const start = position - block * blockBytes;
    return bytes.copy(into.buffer, into.offset, start, Math.min(start + into.length, bytes.length));
  }

  #readAhead(file: RemoteFile, from: number, to: number): void {
    for (let block = from; block <= to && block * blockBytes < file.version.bytes; block += 1) {
      const isKnown =
        this.#memory.has(blockId(file, block)) || this.#cache.hasBlock(file.key, file.version, block);
      // The reader that comes for it sees the error.
      if (!isKnown && !this.#objects.requests.isBusy) this.#fetch(file, block).catch(() => {});
    }
  }

  #fetch(file: RemoteFile, block: number): Promise<Buffer> {
    const id = blockId(file, block);
    let fetching = this.#fetching.get(id);
    if (fetching === undefined) {
      fetching = this.#fetchNow(file, block).finally(() => this.#fetching.delete(id));
      this.#fetching.set(id, fetching);
    }
    return fetching;
  }

  async #fetchNow(file: RemoteFile, block: number): Promise<Buffer> {
    const { key, version, path } = file;
    const start = block * blockBytes;
    const length = Math.min(blockBytes, version.bytes - start);
    try {
      const bytes = await this.#objects.read(key, version, { start, length });
      this.#memory.set(blockId(file, block), bytes);
      this.#cache.addBlock(key, version, block, bytes);
      return bytes;
    } catch (error) {
      throw this.staleError(error, { key, path });
    }
  }

  /** Converts faults of objects that changed meanwhile; returns other errors unchanged. */
  staleError(error: unknown, { key, path }: { readonly key: string; readonly path: string }): unknown {
    if (!(error instanceof S3Fault)) return error;
    this.#onStale(key);
    if (error.kind === 'missing') return notFoundError(path);
    return new AppError('storage-unavailable', `${path} was replaced while it was read`, { cause: error });
  }
}

function blockId({ key, version }: RemoteFile, block: number): string {
  return `${key}/${version.etag}/${block}`;
}
