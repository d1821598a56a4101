import type { Readable } from 'node:stream';
import { type AppError, systemCodeOf } from '../shared/errors.ts';
import { streamOf } from '../shared/files/opened-file.ts';
import type { MediaStorage } from './media-storage.ts';

/** Bytes of a stored file. @param missing creates the error for a file that is not there any more */
export async function streamStored(
  storage: MediaStorage,
  path: string,
  range: { readonly start: number; readonly end: number },
  missing: (cause: unknown) => AppError,
): Promise<Readable> {
  try {
    return streamOf(await storage.open(path), range);
  } catch (cause) {
    throw systemCodeOf(cause) === 'ENOENT' ? missing(cause) : cause;
  }
}
