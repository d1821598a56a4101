import { type FileHandle, open } from 'node:fs/promises';
import { type FragmentedMovie, readFragment, readFragmentedMovie } from '../../media/cmaf/fragmented-file.ts';
import type { LocatedSample } from '../../media/cmaf/movie-fragment.ts';
import { AppError, systemCodeOf } from '../../shared/errors.ts';
import { readFully } from '../../storage/read-fully.ts';

const MAX_MOVIE_BYTES = 8 * 1024 * 1024;
/** A `moof` with the maximum number of samples is smaller. */
const MAX_FRAGMENT_HEAD_BYTES = 4 * 1024 * 1024;

/** Limits other top-level boxes, each of which costs a read. ffmpeg writes two or three besides fragments. */
const MAX_OTHER_BOXES = 1024;

interface FragmentHandler {
  onMovie(movie: FragmentedMovie): void;
  onFragment(samples: readonly LocatedSample[]): void;
}

/** Reads fragment headers of a growing file from front to back, without the media. */
export class FragmentFollower {
  readonly #path: string;
  readonly #handler: FragmentHandler;
  #position = 0;
  #movie: FragmentedMovie | undefined;
  #otherBoxes = 0;
  readonly #nextDts = new Map<number, number>();
  #fileBytes = 0;

  constructor(path: string, handler: FragmentHandler) {
    this.#path = path;
    this.#handler = handler;
  }

  get fileBytes(): number {
    return this.#fileBytes;
  }

  get isAtEnd(): boolean {
    return this.#position === this.#fileBytes;
  }

  /** Reads all complete boxes. Does nothing while the file is missing. @throws AppError `media-malformed` */
  async poll(): Promise<void> {
    let handle: FileHandle;
    try {
      handle = await open(this.#path, 'r');
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return;
      throw error;
    }
    try {
      this.#fileBytes = (await handle.stat()).size;
      while (await this.#step(handle));
    } finally {
      await handle.close();
    }
  }

  async #step(handle: FileHandle): Promise<boolean> {
    const box = await this.#header(handle, this.#position);
    if (box === undefined) return false;
    if (box.type === 'moof') return this.#fragment(handle, box);
    if (box.end > this.#fileBytes) return false;
    if (box.type === 'moov') {
      if (this.#movie !== undefined) throw malformed('has a second "moov"');
      this.#movie = readFragmentedMovie(await bodyOf(handle, box, MAX_MOVIE_BYTES));
      this.#handler.onMovie(this.#movie);
    }
    this.#otherBoxes += 1;
    if (this.#otherBoxes > MAX_OTHER_BOXES) throw malformed('has too many boxes beside its fragments');
    this.#position = box.end;
    return true;
  }

  async #fragment(handle: FileHandle, moof: TopBox): Promise<boolean> {
    if (moof.end > this.#fileBytes) return false;
    const mdat = await this.#header(handle, moof.end);
    if (mdat === undefined || mdat.end > this.#fileBytes) return false;
    if (this.#movie === undefined) throw malformed('has a fragment before its "moov"');
    if (mdat.type !== 'mdat') throw malformed('has a "moof" without "mdat"');
    const body = await bodyOf(handle, moof, MAX_FRAGMENT_HEAD_BYTES);
    const data = { start: mdat.bodyStart, end: mdat.end };
    this.#handler.onFragment(readFragment(body, this.#movie, moof.start, data, this.#nextDts));
    this.#position = mdat.end;
    return true;
  }

  async #header(handle: FileHandle, start: number): Promise<TopBox | undefined> {
    const bytes = Buffer.alloc(16);
    if (this.#fileBytes - start < 8) return undefined;
    const { bytesRead } = await handle.read(bytes, 0, Math.min(16, this.#fileBytes - start), start);
    const isLong = bytes.readUInt32BE(0) === 1;
    if (bytesRead < (isLong ? 16 : 8)) return undefined;
    const size = isLong ? Number(bytes.readBigUInt64BE(8)) : bytes.readUInt32BE(0);
    const headerBytes = isLong ? 16 : 8;
    if (size < headerBytes) throw malformed(`has a box of ${size} bytes at ${start}`);
    return {
      type: bytes.toString('latin1', 4, 8),
      start,
      bodyStart: start + headerBytes,
      end: start + size,
    };
  }
}

interface TopBox {
  readonly type: string;
  readonly start: number;
  readonly bodyStart: number;
  readonly end: number;
}

async function bodyOf(handle: FileHandle, box: TopBox, maxBytes: number): Promise<Buffer> {
  const length = box.end - box.bodyStart;
  if (length > maxBytes) throw malformed(`has a header of ${length} bytes`);
  const bytes = await readFully(handle, box.bodyStart, length);
  if (bytes.length < length) throw malformed('was truncated');
  return bytes;
}

function malformed(what: string): AppError {
  return new AppError('media-malformed', `The file of a rendition ${what}.`);
}
