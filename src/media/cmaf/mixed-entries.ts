import { AppError } from '../../shared/errors.ts';
import { printable } from './box-reader.ts';
import { type FoundBox, HeaderWalk } from './header-walk.ts';
import { findMovie, type ReadAt } from './progressive-file.ts';

const KINDS: Readonly<Record<string, 'video' | 'audio'>> = { vide: 'video', soun: 'audio' };
/** One codec with several types, which ffmpeg reads as one. */
const MIXABLE_ENTRIES: ReadonlySet<string> = new Set(['apcn', 'apch', 'dvpp', 'dvcp', 'AV1x', 'AVup']);
const CHUNK_RUN_BYTES = 12;
/** Maximum runs per track: one for each of an hour's chunks, at a hundred chunks a second. */
const MAX_CHUNK_RUNS = 360_000;

interface MixedEntries {
  readonly kind: 'video' | 'audio';
  readonly types: readonly string[];
}

/** Finds a track with samples of several sample entry types. ffmpeg decodes only those of its first one. */
export async function findMixedEntries(readAt: ReadAt, fileBytes: number): Promise<MixedEntries | undefined> {
  const movie = await findMovie(readAt, fileBytes, fileBytes).catch((error: unknown) => {
    if (error instanceof AppError) return undefined;
    throw error;
  });
  if (movie === undefined) return undefined;
  const walk = new HeaderWalk(readAt);
  const boxes = await walk.boxes(movie.position, movie.position + movie.length);
  const isFragmented = boxes.some(({ type }) => type === 'mvex');
  for (const trak of boxes.filter(({ type }) => type === 'trak')) {
    const [handler] = await walk.find(trak, 'mdia', 'hdlr');
    const [tables] = await walk.find(trak, 'mdia', 'minf', 'stbl');
    if (handler === undefined || tables === undefined) continue;
    const kind = KINDS[(await readAt(handler.start + 8, 4)).toString('latin1')];
    if (kind === undefined) continue;
    const found = await walk.boxes(tables.start, tables.end);
    const descriptions = found.find(({ type }) => type === 'stsd');
    if (descriptions === undefined) continue;
    const types = (await walk.boxes(descriptions.start + 8, descriptions.end)).map(({ type }) => type);
    const [first] = types;
    if (first === undefined || MIXABLE_ENTRIES.has(first) || types.every(type => type === first)) continue;
    // Fragments say themselves which entry they use.
    const runs = isFragmented ? undefined : found.find(({ type }) => type === 'stsc');
    const used = runs === undefined ? types : await usedTypes(readAt, runs, types);
    if (used.some(type => type !== first)) return { kind, types: [...new Set(used)].map(printable) };
  }
  return undefined;
}

async function usedTypes(readAt: ReadAt, { start, end }: FoundBox, types: readonly string[]) {
  const bytes = await readAt(start + 8, Math.min(end - start - 8, MAX_CHUNK_RUNS * CHUNK_RUN_BYTES));
  const used = new Set<number>();
  for (let at = 0; at + CHUNK_RUN_BYTES <= bytes.length; at += CHUNK_RUN_BYTES) {
    used.add(bytes.readUInt32BE(at + 8));
  }
  return types.filter((_, index) => used.has(index + 1));
}
