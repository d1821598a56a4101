import { open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { LRUCache } from 'lru-cache';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { BitRates, OpenRendition, RenditionMetadata, SegmentBytes } from './rendition.ts';
import { type LoadedIndex, loadIndex, readRecord } from './segment-index.ts';
import { decodeRecord } from './segment-record.ts';

const DEFAULT_MAX_BYTES = 32 * 1024 * 1024;

const OVERHEAD_BYTES = 2048;

/** Keeps segment tables in a bounded LRU cache. Files are open only during reads. */
export class RenditionReader {
  readonly #cache: LRUCache<string, OpenedRendition, string>;

  /** Of all tables and init sections. Default 32 MiB. */
  constructor({ maxBytes = DEFAULT_MAX_BYTES }: { maxBytes?: number } = {}) {
    this.#cache = new LRUCache<string, OpenedRendition, string>({
      maxSize: maxBytes,
      sizeCalculation: ({ memoryBytes }) => memoryBytes + OVERHEAD_BYTES,
      fetchMethod: (_key, _stale, { context: indexPath }) => load(indexPath),
    });
  }

  get cachedBytes(): number {
    return this.#cache.calculatedSize;
  }

  /** @throws AppError `server-error` when the index or its media file is missing or damaged, or they do not belong together */
  async open(indexPath: string): Promise<OpenRendition> {
    const { ino, size, mtimeMs } = await statOf(indexPath);
    return this.#cache.forceFetch(`${indexPath}/${ino}/${size}/${mtimeMs}`, { context: indexPath });
  }
}

class OpenedRendition implements OpenRendition {
  readonly facts: RenditionMetadata;
  readonly init: Buffer;
  readonly #index: LoadedIndex;
  readonly #indexPath: string;
  readonly #mediaPath: string;
  #rates: (BitRates & { readonly targetDurationSeconds: number }) | undefined;

  constructor(index: LoadedIndex, indexPath: string, mediaPath: string) {
    this.facts = index.facts;
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
    return (this.#index.startTicks + this.#index.table.row(index).startTicks) / this.facts.timescale;
  }

  durationSeconds(index: number): number {
    return this.#index.table.row(index).durationTicks / this.facts.timescale;
  }

  async readSegment(index: number): Promise<SegmentBytes> {
    const { table, mediaBytes } = this.#index;
    const { bytes } = table.row(index);
    const record = await withFile(this.#indexPath, handle => readRecord(handle, table, index));
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
      const rates = this.#index.table.bitRates(this.facts.timescale, targetDurationSeconds);
      this.#rates = { ...rates, targetDurationSeconds };
    }
    return this.#rates;
  }
}

async function load(indexPath: string): Promise<OpenedRendition> {
  const index = await withFile(indexPath, loadIndex);
  const mediaPath = resolve(dirname(indexPath), index.media);
  const { size } = await statOf(mediaPath);
  if (size !== index.mediaBytes) {
    throw new AppError('server-error', `${mediaPath} has ${size} bytes, its index has ${index.mediaBytes}.`);
  }
  return new OpenedRendition(index, indexPath, mediaPath);
}

async function withFile<T>(
  path: string,
  use: (handle: Awaited<ReturnType<typeof open>>) => Promise<T>,
): Promise<T> {
  try {
    const handle = await open(path, 'r');
    try {
      return await use(handle);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw asServerError(error, path);
  }
}

async function statOf(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    throw asServerError(error, path);
  }
}

function asServerError(error: unknown, path: string): AppError {
  if (error instanceof AppError && error.code === 'server-error') return error;
  return new AppError('server-error', `Cannot read ${path}: ${messageOf(error)}`, { cause: error });
}
