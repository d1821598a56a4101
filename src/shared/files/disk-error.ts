import { AppError, systemCodeOf } from '../errors.ts';

/** Tells whether a write to a file or the database failed because the disk or the quota is full. */
export function isDiskFull(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'SQLITE_FULL';
}

/** Converts the error of a full disk to `disk-full`; returns other errors unchanged. */
export function toDiskError(error: unknown): unknown {
  return isDiskFull(error) ? new AppError('disk-full', undefined, { cause: error }) : error;
}
