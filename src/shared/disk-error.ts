import { AppError, systemCodeOf } from './errors.ts';

/** What a failed write is told as: a full disk is `disk-full`, anything else itself. */
export function diskErrorOf(error: unknown): unknown {
  const code = systemCodeOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? new AppError('disk-full', undefined, { cause: error })
    : error;
}
