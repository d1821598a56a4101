import { systemCodeOf } from '../../shared/errors.ts';
import type { OpenedFile, OpenFile } from '../../shared/files/opened-file.ts';
import type { BodyPart } from '../../shared/viewer-responses.ts';
import { BodyReader } from './body-reader.ts';

/** The caller closes the files, also after a failure. @returns `busy` with too many open files */
export async function openFiles(
  open: OpenFile,
  pieces: readonly BodyPart[],
  files: Map<string, OpenedFile>,
): Promise<'missing' | 'busy' | undefined> {
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece) || files.has(piece.path)) continue;
    try {
      files.set(piece.path, await open(piece.path));
    } catch (error) {
      const code = systemCodeOf(error);
      if (code === 'ENOENT') return 'missing';
      if (code === 'EMFILE' || code === 'ENFILE') return 'busy';
      throw error;
    }
  }
  return undefined;
}

export async function closeFiles(files: ReadonlyMap<string, OpenedFile>): Promise<void> {
  await Promise.all([...files.values()].map(file => file.close()));
}

/** Returns undefined when a file is missing. @throws Error when it cannot be read */
export async function readBody(
  open: OpenFile,
  pieces: readonly BodyPart[],
  bytes: number,
): Promise<Buffer | undefined> {
  const files = new Map<string, OpenedFile>();
  try {
    const problem = await openFiles(open, pieces, files);
    if (problem === 'missing') return undefined;
    if (problem === 'busy') throw new Error('too many files are open');
    const reader = new BodyReader(pieces, files);
    const chunks: Buffer[] = [];
    for (let left = bytes; left > 0; ) {
      const read = await reader.next(Buffer.allocUnsafeSlow(left));
      if (read.length === 0) break;
      for (const chunk of read) left -= chunk.length;
      chunks.push(...read);
    }
    return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
  } finally {
    await closeFiles(files);
  }
}
