import { readFileSync, statSync } from 'node:fs';
import { AppError, systemCodeOf } from '../shared/errors.ts';

const maxNamed = 3;

/** True for an SQLite file that another process has locked. */
export function isBusy(error: unknown): boolean {
  return systemCodeOf(error)?.startsWith('SQLITE_BUSY') === true;
}

/** @param cause that SQLite reported */
export function lockedError(path: string, cause: unknown): AppError {
  const holder = holdersOf(path) || 'another process';
  return new AppError(
    'database-unusable',
    `The database ${path} is locked by ${holder}: wait until that has finished, or end it, and try again.`,
    { cause },
  );
}

/** Names the processes that lock a database in text, as far as Linux tells. Empty elsewhere. */
function holdersOf(path: string): string {
  const inodes = [path, `${path}-shm`].flatMap(file => inodeOf(file) ?? []);
  const locks = readText('/proc/locks')
    .split('\n')
    .map(line => /(READ|WRITE) +(\d+) ([0-9a-f]+:[0-9a-f]+:\d+) /.exec(line))
    .filter(lock => lock !== null && inodes.includes(lock[3]!) && Number(lock[2]) !== process.pid);
  // Readers lock it, too, but hold up nobody who writes.
  const writers = locks.filter(lock => lock?.[1] === 'WRITE');
  const pids = new Set((writers.length > 0 ? writers : locks).map(lock => lock![2]!));
  return [...pids].slice(0, maxNamed).map(describeProcess).join(' and ');
}

/** The device and inode of a file as `/proc/locks` writes them. */
function inodeOf(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const { dev, ino } = found;
  const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)];
  return `${hexOf(major)}:${hexOf(minor)}:${ino}`;
}

function hexOf(number: number): string {
  return number.toString(16).padStart(2, '0');
}

function describeProcess(pid: string): string {
  const name = readText(`/proc/${pid}/comm`).trim();
  return name === '' ? `process ${pid}` : `process ${pid} (${name})`;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
