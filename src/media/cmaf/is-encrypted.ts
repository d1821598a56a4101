import { AppError } from '../../shared/errors.ts';
import { HeaderWalk } from './header-walk.ts';
import { findMovie, type ReadAt } from './progressive-file.ts';

/** Common Encryption, and FairPlay before it. */
const ENCRYPTED_ENTRIES: ReadonlySet<string> = new Set(['encv', 'enca', 'drmi', 'drms']);

/** Header included, up to the first child box. */
const VIDEO_FIELDS_BYTES = 86;
const AUDIO_FIELDS_BYTES = 36;

/** ISO/IEC 14496-12:2022, 8.12; ISO/IEC 23001-7:2023, 4.1. Ignores `pssh`, which decrypted files may keep. */
export async function isEncrypted(readAt: ReadAt, fileBytes: number): Promise<boolean> {
  const movie = await findMovie(readAt, fileBytes, fileBytes).catch((error: unknown) => {
    if (error instanceof AppError) return undefined;
    throw error;
  });
  if (movie === undefined) return false;
  const walk = new HeaderWalk(readAt);
  const range = { start: movie.position, end: movie.position + movie.length };
  const tables = await walk.find(range, 'trak', 'mdia', 'minf', 'stbl', 'stsd');
  for (const { start, end } of tables) {
    // Skips version, flags and the number of entries.
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
