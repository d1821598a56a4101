import { AppError, systemCodeOf } from '../errors.ts';

/** Whether a write, of a file or of the database, failed because there is no room for it: on the disk, or in what this user may have of it. */
export function isDiskFull(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'SQLITE_FULL';
}

/** What a failed write is told as: a full disk is `disk-full`, anything else itself. */
export function toDiskError(error: unknown): unknown {
  return isDiskFull(error) ? new AppError('disk-full', undefined, { cause: error }) : error;
}
