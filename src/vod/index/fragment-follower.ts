import { type FileHandle, open } from 'node:fs/promises';
import { type FragmentedMovie, readFragment, readFragmentedMovie } from '../../media/cmaf/fragmented-file.ts';
import type { LocatedSample } from '../../media/cmaf/movie-fragment.ts';
import { AppError, systemCodeOf } from '../../shared/errors.ts';

const MAX_MOVIE_BYTES = 8 * 1024 * 1024;
/** A `moof` of all the samples that one may announce has less. */
const MAX_FRAGMENT_HEAD_BYTES = 4 * 1024 * 1024;

/** Maximum number of top-level boxes beside fragments: each costs a read. ffmpeg writes two or three. */
const MAX_OTHER_BOXES = 1024;

/** Who gets what a {@link FragmentFollower} reads, in the order of the file. */
export interface FragmentFollowing {
  /** Once, before the first fragment. */
  onMovie(movie: FragmentedMovie): void;
  /** A fragment whose last byte is in the file. May read on only when this is done. */
  onFragment(samples: readonly LocatedSample[]): void;
}

/** Reads the heads of a fragmented MP4 file that somebody else is still writing, from front to back, without its media. */
export class FragmentFollower {
  readonly #path: string;
  readonly #following: FragmentFollowing;
  /** First byte of the next top-level box. */
  #position = 0;
  #movie: FragmentedMovie | undefined;
  #otherBoxes = 0;
  readonly #nextDts = new Map<number, number>();
  #fileBytes = 0;

  constructor(path: string, following: FragmentFollowing) {
    this.#path = path;
    this.#following = following;
  }

  /** Length of the file when it was last looked at. */
  get fileBytes(): number {
    return this.#fileBytes;
  }

  /** True when the file ended, when it was last looked at, where a box does. */
  get isAtEnd(): boolean {
    return this.#position === this.#fileBytes;
  }

  /**
   * Reads what is complete by now. A file that is not there yet is fine.
   *
   * @throws AppError `media-malformed`
   */
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

  /** Takes one box, or a `moof` with its `mdat`; false when it is not complete. */
  async #step(handle: FileHandle): Promise<boolean> {
    const box = await this.#header(handle, this.#position);
    if (box === undefined) return false;
    if (box.type === 'moof') return this.#fragment(handle, box);
    if (box.end > this.#fileBytes) return false;
    if (box.type === 'moov') {
      if (this.#movie !== undefined) throw malformed('has a second "moov"');
      this.#movie = readFragmentedMovie(await bodyOf(handle, box, MAX_MOVIE_BYTES));
      this.#following.onMovie(this.#movie);
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
    this.#following.onFragment(readFragment(body, this.#movie, moof.start, data, this.#nextDts));
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

async function bodyOf(handle: FileHandle, box: TopBox, most: number): Promise<Buffer> {
  const length = box.end - box.bodyStart;
  if (length > most) throw malformed(`has a head of ${length} bytes`);
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await handle.read(bytes, done, length - done, box.bodyStart + done);
    if (bytesRead === 0) throw malformed('became shorter');
    done += bytesRead;
  }
  return bytes;
}

function malformed(what: string): AppError {
  return new AppError('media-malformed', `a rendition's file ${what}`);
}
