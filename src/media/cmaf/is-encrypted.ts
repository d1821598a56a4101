import { AppError } from '../../shared/errors.ts';
import { findMovie, type ReadAt } from './progressive-file.ts';

/** Common Encryption, and FairPlay before it. */
const ENCRYPTED_ENTRIES: ReadonlySet<string> = new Set(['encv', 'enca', 'drmi', 'drms']);

/** Header included, up to the first child box. */
const VIDEO_FIELDS_BYTES = 86;
const AUDIO_FIELDS_BYTES = 36;

/** Per file; films have a few dozen on the path to their sample entries. */
const MAX_BOXES = 2048;

/** ISO/IEC 14496-12:2022, 8.12; ISO/IEC 23001-7:2023, 4.1. Ignores `pssh`, which decrypted files may keep. */
export async function isEncrypted(readAt: ReadAt, fileBytes: number): Promise<boolean> {
  const movie = await findMovie(readAt, fileBytes, fileBytes).catch((error: unknown) => {
    if (error instanceof AppError) return undefined;
    throw error;
  });
  if (movie === undefined) return false;
  const walk = new HeaderWalk(readAt);
  let tables = [{ start: movie.position, end: movie.position + movie.length }];
  for (const type of ['trak', 'mdia', 'minf', 'stbl', 'stsd']) {
    const found = [];
    for (const parent of tables) found.push(...(await walk.boxes(parent.start, parent.end)));
    tables = found.filter(box => box.type === type);
  }
  for (const { start, end } of tables) {
    // After version, flags and the number of entries.
    for (const entry of await walk.boxes(start + 8, end)) {
      if (ENCRYPTED_ENTRIES.has(entry.type)) return true;
      for (const fieldsBytes of [VIDEO_FIELDS_BYTES, AUDIO_FIELDS_BYTES]) {
        const children = await walk.boxes(entry.start - 8 + fieldsBytes, entry.end);
        if (children.some(({ type }) => type === 'sinf')) return true;
      }
    }
  }
  return false;
}

/** `start` is the first byte of its body. */
interface FoundBox {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

class HeaderWalk {
  readonly #readAt: ReadAt;
  #left = MAX_BOXES;

  constructor(readAt: ReadAt) {
    this.#readAt = readAt;
  }

  /** Stops at an incomplete box. */
  async boxes(start: number, end: number): Promise<FoundBox[]> {
    const found: FoundBox[] = [];
    for (let at = start; end - at >= 8 && this.#left > 0; this.#left -= 1) {
      const header = await this.#readAt(at, 8);
      if (header.length < 8) break;
      const size = header.readUInt32BE(0);
      if (size < 8 || size > end - at) break;
      found.push({ type: header.toString('latin1', 4, 8), start: at + 8, end: at + size });
      at += size;
    }
    return found;
  }
}
