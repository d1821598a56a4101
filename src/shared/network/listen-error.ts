import { AppError, messageOf, systemCodeOf } from '../errors.ts';

/** @param listener such as `RTMP port 1935` */
export function listenError(listener: string, host: string, cause: unknown): AppError {
  return new AppError('listen-failed', `${listener} ${reasonOf(cause, host)}`, { cause });
}

function reasonOf(cause: unknown, host: string): string {
  switch (systemCodeOf(cause)) {
    case 'EADDRINUSE':
      return `is already in use on ${host}. Stop the program that uses it, or set another port.`;
    case 'EACCES':
      return 'needs more rights than this process has. Set a port above 1023.';
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `cannot be opened: ${host} is not an address of this machine.`;
    default:
      return `cannot be opened on ${host}: ${messageOf(cause)}`;
  }
}
