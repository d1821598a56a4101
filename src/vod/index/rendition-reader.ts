import { dirname, resolve } from 'node:path';
import { LRUCache } from 'lru-cache';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { OpenedFile } from '../../shared/files/opened-file.ts';
import type { MediaStorage, StoredFile } from '../../storage/media-storage.ts';
import type { BitRates, OpenRendition, RenditionMetadata, SegmentBytes } from './rendition.ts';
import { type LoadedIndex, loadIndex, readRecord } from './segment-index.ts';
import { decodeRecord } from './segment-record.ts';

const DEFAULT_MAX_BYTES = 32 * 1024 * 1024;

const OVERHEAD_BYTES = 2048;

type IndexFiles = Pick<MediaStorage, 'kind' | 'find' | 'open'>;

/** Keeps segment tables in a bounded LRU cache. Files are open only during reads. */
export class RenditionReader {
  readonly #files: IndexFiles;
  readonly #cache: LRUCache<string, OpenedRendition, string>;

  /** Creates a cache. `maxBytes` limits all tables and init sections; default 32 MiB. */
  constructor(files: IndexFiles, { maxBytes = DEFAULT_MAX_BYTES }: { maxBytes?: number } = {}) {
    this.#files = files;
    this.#cache = new LRUCache<string, OpenedRendition, string>({
      maxSize: maxBytes,
      sizeCalculation: ({ memoryBytes }) => memoryBytes + OVERHEAD_BYTES,
      fetchMethod: (_key, _stale, { context: indexPath }) => load(files, indexPath),
    });
  }

  get cachedBytes(): number {
    return this.#cache.calculatedSize;
  }

  releaseMemory(): void {
    // `clear` would fail requests that wait for an index.
    for (const key of [...this.#cache.keys()]) this.#cache.delete(key);
  }

  /**
   * @throws AppError `server-error` when the index or its media file is missing or damaged, or they do not belong together;
   * `storage-unavailable`
   */
  async open(indexPath: string): Promise<OpenRendition> {
    // In object storage a path names one index forever, and asking for its version takes a request.
    const version = this.#files.kind === 's3' ? '' : (await findIn(this.#files, indexPath)).etag;
    return this.#cache.forceFetch(`${indexPath}/${version}`, { context: indexPath });
  }
}

class OpenedRendition implements OpenRendition {
  readonly renditionMetadata: RenditionMetadata;
  readonly init: Buffer;
  readonly #files: IndexFiles;
  readonly #index: LoadedIndex;
  readonly #indexPath: string;
  readonly #mediaPath: string;
  #rates: (BitRates & { readonly targetDurationSeconds: number }) | undefined;

  constructor(files: IndexFiles, index: LoadedIndex, indexPath: string, mediaPath: string) {
    this.#files = files;
    this.renditionMetadata = index.renditionMetadata;
    this.init = index.init;
    this.#index = index;
    this.#indexPath = indexPath;
    this.#mediaPath = mediaPath;
  }

  get segmentCount(): number {
    return this.#index.table.length;
  }

  get memoryBytes(): number {
    return this.#index.table.memoryBytes + this.init.length;
  }

  startSeconds(index: number): number {
    return (
      (this.#index.startTicks + this.#index.table.row(index).startTicks) / this.renditionMetadata.timescale
    );
  }

  durationSeconds(index: number): number {
    return this.#index.table.row(index).durationTicks / this.renditionMetadata.timescale;
  }

  async readSegment(index: number): Promise<SegmentBytes> {
    const { table, mediaBytes } = this.#index;
    const { bytes } = table.row(index);
    const record = await withFile(this.#files, this.#indexPath, file => readRecord(file, table, index));
    const segment = decodeRecord(record, { path: this.#mediaPath, bytes: mediaBytes });
    if (segment.bytes !== bytes) {
      throw new AppError(
        'server-error',
        `Segment ${index} has ${segment.bytes} bytes, its index has ${bytes}.`,
      );
    }
    return segment;
  }

  bitRates(targetDurationSeconds: number): BitRates {
    if (this.#rates?.targetDurationSeconds !== targetDurationSeconds) {
      const rates = this.#index.table.bitRates(this.renditionMetadata.timescale, targetDurationSeconds);
      this.#rates = { ...rates, targetDurationSeconds };
    }
    return this.#rates;
  }
}

async function load(files: IndexFiles, indexPath: string): Promise<OpenedRendition> {
  const { bytes: indexBytes } = await findIn(files, indexPath);
  const index = await withFile(files, indexPath, file => loadIndex(file, indexBytes));
  const mediaPath = resolve(dirname(indexPath), index.media);
  const { bytes } = await findIn(files, mediaPath);
  if (bytes !== index.mediaBytes) {
    throw new AppError('server-error', `${mediaPath} has ${bytes} bytes, its index has ${index.mediaBytes}.`);
  }
  return new OpenedRendition(files, index, indexPath, mediaPath);
}

async function withFile<T>(
  files: IndexFiles,
  path: string,
  use: (file: OpenedFile) => Promise<T>,
): Promise<T> {
  try {
    const file = await files.open(path);
    try {
      return await use(file);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw asServerError(error, path);
  }
}

async function findIn(files: IndexFiles, path: string): Promise<StoredFile> {
  const file = await files.find(path);
  if (file === undefined) throw new AppError('server-error', `${path} is missing.`);
  return file;
}

function asServerError(error: unknown, path: string): AppError {
  if (error instanceof AppError && (error.code === 'server-error' || error.kind === 'unavailable'))
    return error;
  return new AppError('server-error', `Cannot read ${path}: ${messageOf(error)}`, { cause: error });
}
