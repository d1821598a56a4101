import { AppError } from '../../shared/errors.ts';
import { type Box, childBoxes, FieldReader, findChildBox, requireChildBox } from './box-reader.ts';
import { readEdit } from './edit-list.ts';
import { readTrackKind } from './movie-box.ts';
import { findMovie, type ReadAt } from './progressive-file.ts';

const MAX_MOVIE_BYTES = 8 * 1024 * 1024;

/**
 * Returns true for a fragmented file of which a copy by ffmpeg keeps what its tracks say. A copy keeps only the first sample
 * description of a track, and drops the edits, so that what they leave out is shown.
 */
export async function isCopyableFragmentedFile(readAt: ReadAt, fileBytes: number): Promise<boolean> {
  try {
    const { position, length } = await findMovie(readAt, fileBytes, MAX_MOVIE_BYTES);
    const body = await readAt(position, length);
    const boxes = childBoxes(body, 0, body.length, 'moov');
    const traks = boxes.filter(({ type }) => type === 'trak');
    return boxes.some(({ type }) => type === 'mvex') && traks.every(trak => isCopyable(body, trak));
  } catch (error) {
    if (error instanceof AppError && error.code === 'media-malformed') return false;
    throw error;
  }
}

function isCopyable(body: Buffer, trak: Box): boolean {
  const mdia = requireChildBox(body, trak, 'mdia');
  if (readTrackKind(body, mdia) === undefined) return true;
  const stbl = requireChildBox(body, requireChildBox(body, mdia, 'minf'), 'stbl');
  const descriptions = new FieldReader(body, requireChildBox(body, stbl, 'stsd'), 4).u32();
  const edts = findChildBox(body, trak, 'edts');
  const elst = edts && findChildBox(body, edts, 'elst');
  return descriptions === 1 && (elst === undefined || readEdit(body, elst) !== undefined);
}
