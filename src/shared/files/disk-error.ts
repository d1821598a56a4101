import { AppError, systemCodeOf } from '../errors.ts';

/** Of file systems, SQLite and PostgreSQL (`disk_full`). */
const codes: readonly (string | undefined)[] = ['ENOSPC', 'EDQUOT', 'SQLITE_FULL', '53100'];

export function isDiskFull(error: unknown): boolean {
  return codes.includes(systemCodeOf(error));
}

/** Converts the error of a full disk to `disk-full`; returns other errors unchanged. */
export function toDiskError(error: unknown): unknown {
  return isDiskFull(error) ? new AppError('disk-full', undefined, { cause: error }) : error;
}
