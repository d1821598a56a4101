import { open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { BitRates, OpenRendition, RenditionMetadata, SegmentBytes } from './rendition.ts';
import { type LoadedIndex, loadIndex, readRecord } from './segment-index.ts';
import { decodeRecord } from './segment-record.ts';

const DEFAULT_KEPT_BYTES = 32 * 1024 * 1024;

/** What is counted for an open rendition beside its table and init section. */
const OVERHEAD_BYTES = 2048;

interface Kept {
  /** Tells one file from another that took its place. */
  readonly stamp: string;
  readonly rendition: Promise<OpenedRendition>;
  bytes: number;
}

/**
 * Opens the indexes of finished renditions. Their headers and segment tables stay in memory, within a bound, the ones asked for longest ago
 * going first; files are open only while they are read.
 */
export class RenditionReader {
  readonly #bytesAtMost: number;
  /** By path; asked for longest ago first. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /** `bytesAtMost`: of all tables and init sections together, 32 MiB if not given. */
  constructor(options: { bytesAtMost?: number } = {}) {
    this.#bytesAtMost = options.bytesAtMost ?? DEFAULT_KEPT_BYTES;
  }

  /** How much is kept now. */
  get keptBytes(): number {
    return this.#bytes;
  }

  /**
   * Opens the rendition of an index.
   *
   * @throws AppError `server-error` when the index or its media file is missing, damaged, or not of the other
   */
  async open(indexPath: string): Promise<OpenRendition> {
    const stamp = await stampOf(indexPath);
    const kept = this.#kept.get(indexPath);
    if (kept?.stamp === stamp) {
      this.#kept.delete(indexPath);
      this.#kept.set(indexPath, kept);
      return kept.rendition;
    }
    this.#drop(indexPath);
    const rendition = load(indexPath);
    const entry: Kept = { stamp, rendition, bytes: 0 };
    this.#kept.set(indexPath, entry);
    try {
      const opened = await rendition;
      if (this.#kept.get(indexPath) === entry) this.#count(entry, opened.memoryBytes + OVERHEAD_BYTES);
      return opened;
    } catch (error) {
      if (this.#kept.get(indexPath) === entry) this.#kept.delete(indexPath);
      throw error;
    }
  }

  #count(entry: Kept, bytes: number): void {
    entry.bytes = bytes;
    this.#bytes += bytes;
    for (const [path, oldest] of this.#kept) {
      if (this.#bytes <= this.#bytesAtMost) return;
      // One that is being loaded counts for nothing yet.
      if (oldest.bytes > 0) this.#drop(path);
    }
  }

  #drop(path: string): void {
    this.#bytes -= this.#kept.get(path)?.bytes ?? 0;
    this.#kept.delete(path);
  }
}

/** A finished rendition. */
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

  async pieces(index: number): Promise<SegmentBytes> {
    const { table, mediaBytes } = this.#index;
    const { bytes } = table.row(index);
    const record = await withFile(this.#indexPath, handle => readRecord(handle, table, index));
    const segment = decodeRecord(record, { path: this.#mediaPath, bytes: mediaBytes });
    if (segment.bytes !== bytes) {
      throw new AppError('server-error', `segment ${index} has ${segment.bytes} bytes in place of ${bytes}`);
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
    throw new AppError('server-error', `${mediaPath} has ${size} bytes, its index knows ${index.mediaBytes}`);
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

async function stampOf(path: string): Promise<string> {
  const { ino, size, mtimeMs } = await statOf(path);
  return `${ino}/${size}/${mtimeMs}`;
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
  return new AppError('server-error', `${path} cannot be read: ${messageOf(error)}`, { cause: error });
}
