import { AppError } from '../errors.ts';
import type { OpenedFile, OpenFile } from './opened-file.ts';

/** Waits at most this long for a file to open, and for each read. @throws AppError `storage-unavailable` */
export function openWithin(maxWaitMs: number, open: OpenFile): OpenFile {
  return async path => {
    const opening = open(path);
    try {
      return new PatientFile(await within(maxWaitMs, opening), maxWaitMs);
    } catch (error) {
      opening.then(
        file => file.close(),
        () => {},
      );
      throw error;
    }
  };
}

class PatientFile implements OpenedFile {
  readonly #file: OpenedFile;
  readonly #maxWaitMs: number;

  constructor(file: OpenedFile, maxWaitMs: number) {
    this.#file = file;
    this.#maxWaitMs = maxWaitMs;
  }

  /** Reads within the time. After an error, bytes may still arrive in `into`. */
  read(into: Buffer, offset: number, length: number, position: number) {
    return within(this.#maxWaitMs, this.#file.read(into, offset, length, position));
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

async function within<Result>(maxWaitMs: number, work: Promise<Result>): Promise<Result> {
  const { promise: isLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new AppError('storage-unavailable', `The storage did not answer within ${maxWaitMs} ms`)),
    maxWaitMs,
  );
  try {
    return await Promise.race([work, isLate]);
  } finally {
    clearTimeout(timer);
  }
}
