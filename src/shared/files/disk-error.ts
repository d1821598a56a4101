import { AppError, systemCodeOf } from '../errors.ts';

export function isDiskFull(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'SQLITE_FULL';
}

/** Converts the error of a full disk to `disk-full`; returns other errors unchanged. */
export function toDiskError(error: unknown): unknown {
  return isDiskFull(error) ? new AppError('disk-full', undefined, { cause: error }) : error;
}
