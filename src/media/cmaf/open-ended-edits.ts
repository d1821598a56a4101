import { AppError } from '../../shared/errors.ts';
import { type FoundBox, HeaderWalk } from './header-walk.ts';
import { findMovie, type ReadAt } from './progressive-file.ts';

/** Bytes to overwrite at a position. */
interface Patch {
  readonly position: number;
  readonly bytes: Buffer;
}

/** Limits edits of a track; real ones have one or two. */
const MAX_EDITS = 16;

/**
 * Finds last edits with the duration 0, which players show up to the end of the track, and ffmpeg not at all. Returns the bytes of
 * the durations that they stand for. In fragmented files, ffmpeg reads them as players do.
 * **Source**: ISO/IEC 14496-12:2022, 8.6.6.
 */
export async function findOpenEndedEdits(read: ReadAt, fileBytes: number): Promise<Patch[]> {
  const readAt = padded(read);
  const movie = await findMovie(read, fileBytes, fileBytes).catch((error: unknown) => {
    if (error instanceof AppError) return undefined;
    throw error;
  });
  if (movie === undefined) return [];
  const walk = new HeaderWalk(read);
  const boxes = await walk.boxes(movie.position, movie.position + movie.length);
  const header = boxes.find(({ type }) => type === 'mvhd');
  if (header === undefined || boxes.some(({ type }) => type === 'mvex')) return [];
  const { timescale } = await readTimes(readAt, header);
  const patches: Patch[] = [];
  for (const trak of boxes.filter(({ type }) => type === 'trak')) {
    const [media] = await walk.find(trak, 'mdia', 'mdhd');
    const [edits] = await walk.find(trak, 'edts', 'elst');
    const last = edits && (await readLastEdit(readAt, edits));
    if (media === undefined || last === undefined || last.durationTicks !== 0) continue;
    const [offsets] = await walk.find(trak, 'mdia', 'minf', 'stbl', 'ctts');
    const { timescale: mediaTimescale, duration } = await readTimes(readAt, media);
    const firstOffset = offsets === undefined ? 0 : (await readAt(offsets.start + 12, 4)).readInt32BE(0);
    const ticks = duration + Math.max(0, firstOffset) - last.mediaTimeTicks;
    const durationTicks = Math.ceil((ticks * timescale) / mediaTimescale);
    if (last.mediaTimeTicks < 0 || !(durationTicks > 0) || durationTicks > 0xffffffff) continue;
    const bytes = Buffer.alloc(last.durationBytes);
    bytes.writeUInt32BE(durationTicks, bytes.length - 4);
    patches.push({ position: last.position, bytes });
  }
  return patches;
}

async function readLastEdit(readAt: ReadAt, { start, end }: FoundBox) {
  const head = await readAt(start, 8);
  const count = head.readUInt32BE(4);
  const durationBytes = head[0] === 1 ? 8 : 4;
  const entryBytes = 2 * durationBytes + 4;
  const position = start + 8 + (count - 1) * entryBytes;
  if (count === 0 || count > MAX_EDITS || position + entryBytes > end) return undefined;
  const entry = await readAt(position, entryBytes);
  const [durationTicks, mediaTimeTicks] =
    durationBytes === 8
      ? [Number(entry.readBigUInt64BE(0)), Number(entry.readBigInt64BE(8))]
      : [entry.readUInt32BE(0), entry.readInt32BE(4)];
  return { position, durationBytes, durationTicks, mediaTimeTicks };
}

/** Reads the timescale and the duration of `mvhd` or `mdhd`. */
async function readTimes(readAt: ReadAt, { start }: FoundBox) {
  const bytes = await readAt(start, 32);
  if (bytes[0] !== 1) return { timescale: bytes.readUInt32BE(12), duration: bytes.readUInt32BE(16) };
  return { timescale: bytes.readUInt32BE(20), duration: Number(bytes.readBigUInt64BE(24)) };
}

/** Reads zeros behind the end of a damaged file. */
function padded(read: ReadAt): ReadAt {
  return async (position, length) =>
    Buffer.concat([await read(position, length), Buffer.alloc(length)], length);
}
