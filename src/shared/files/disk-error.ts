import { statfs } from 'node:fs/promises';
import { AppError, messageOf, systemCodeOf } from '../errors.ts';

/** Codes of file systems, SQLite and PostgreSQL (`disk_full`). */
const codes: readonly (string | undefined)[] = ['ENOSPC', 'EDQUOT', 'SQLITE_FULL', '53100'];

export function isDiskFull(error: unknown): boolean {
  return codes.includes(systemCodeOf(error));
}

/** Codes of Node.js and SQLite: too many open files, processes or threads, or no memory. */
const exhaustedCodes: readonly (string | undefined)[] = [
  ...['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ERR_WORKER_INIT_FAILED'],
  ...['SQLITE_CANTOPEN', 'SQLITE_NOMEM', 'SQLITE_IOERR_NOMEM'],
];

/** Converts errors of a full disk to `disk-full`, and of exhausted resources to `out-of-resources`; returns others unchanged. */
export function toMachineError(error: unknown): unknown {
  if (isDiskFull(error)) return new AppError('disk-full', undefined, { cause: error });
  // Node.js gives no code when it cannot load a module.
  if (exhaustedCodes.includes(systemCodeOf(error)) || /too many open files/.test(messageOf(error)))
    return new AppError('out-of-resources', undefined, { cause: error });
  return error;
}

/** Below it, writes fail. SQLite reports a lack of room for its files as an I/O error. */
export const fullBelowBytes = 1024 ** 2;

/** Converts the error of a start that failed because the disk of the data folder is full; returns others unchanged. */
export async function toStartError(error: unknown, dataDir: string): Promise<unknown> {
  const isOther =
    error instanceof AppError && !/^(?:data-dir|database)-unusable$|^disk-full$/.test(error.code);
  if (isOther) return error;
  const disk = await statfs(dataDir).catch(() => undefined);
  const isFull =
    isDiskFull(error) ||
    (error instanceof Error && isDiskFull(error.cause)) ||
    (disk !== undefined && disk.bavail * disk.bsize < fullBelowBytes);
  if (!isFull) return error;
  const message = `The disk of the data folder ${dataDir} is full. Free some space, then start the server again. (${messageOf(error)})`;
  return new AppError('disk-full', message, { cause: error });
}
