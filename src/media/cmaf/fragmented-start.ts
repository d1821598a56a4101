import { type Box, childBoxes, findChildBox, requireChildBox } from './box-reader.ts';
import { readEdit } from './edit-list.ts';
import { readTimescale } from './movie-box.ts';

/**
 * Returns the seconds of media time before the edits of a fragmented file begin, the least of all tracks; 0 for
 * other files. @param head the `ftyp` and `moov` of a file, or more @throws AppError `media-malformed`
 */
export function readFragmentedStart(head: Buffer): number {
  let at = 0;
  while (at + 8 <= head.length) {
    const size = head.readUInt32BE(at);
    const type = head.toString('latin1', at + 4, at + 8);
    if (size < 8 || at + size > head.length) return 0;
    if (type === 'moov') {
      const boxes = childBoxes(head, at + 8, at + size, 'moov');
      if (!boxes.some(box => box.type === 'mvex')) return 0;
      const starts = boxes.filter(box => box.type === 'trak').map(trak => editStart(head, trak));
      return starts.length === 0 ? 0 : Math.min(...starts);
    }
    if (type !== 'ftyp') return 0;
    at += size;
  }
  return 0;
}

function editStart(bytes: Buffer, trak: Box): number {
  const edts = findChildBox(bytes, trak, 'edts');
  const elst = edts && findChildBox(bytes, edts, 'elst');
  const edit = elst && readEdit(bytes, elst);
  if (edit === undefined) return 0;
  const mdhd = requireChildBox(bytes, requireChildBox(bytes, trak, 'mdia'), 'mdhd');
  return edit.mediaTimeTicks / readTimescale(bytes, mdhd);
}
