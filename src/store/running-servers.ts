import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, hostname, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { AppError, messageOf, systemCodeOf } from '../shared/errors.ts';
import { randomBase62 } from '../shared/ids.ts';
import { isDataFolderLocked } from './data-folder-lock.ts';

export interface RunningServer {
  readonly pid: number;
  readonly dataDir: string;
  readonly programDir: string;
  readonly publicUrl: string;
  /** Port on this machine. Missing in entries of older versions. */
  readonly httpPort?: number;
  readonly startedAtMs: number;
  /** True when the database is not in the data folder. */
  readonly usesPostgres?: boolean;
}

/** Age at which an unreadable file of another process is removed: it may still be written. */
const unreadableKeptMs = 60_000;

/**
 * Registry of this user's running servers. Each server writes a file to the user's state folder, or to the
 * folder for temporary files when that is not writable. Ignores and removes files of crashed servers: a
 * server runs only while its process exists and its data folder is locked.
 */
export class RunningServers {
  readonly #folders: readonly string[];

  constructor(folders: readonly string[] = [...stateFolders(), join(tmpdir(), `millrace-${ownUid()}`)]) {
    this.#folders = folders;
  }

  /** Call while holding the folder's lock. @returns removes the entry @throws AppError `data-dir-unusable` */
  add(server: Omit<RunningServer, 'pid'>): () => void {
    const others = this.#files().filter(({ entry }) => entry?.dataDir === server.dataDir);
    for (const { path } of others) remove(path);
    const text = `${JSON.stringify({ ...server, pid: process.pid, host: hostname() })}\n`;
    const failures: string[] = [];
    for (const folder of this.#folders) {
      const path = join(folder, `${randomBase62(12)}.json`);
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        if (!isPrivate(folder)) throw new Error(`${folder} can be changed by other users`);
        writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
        return () => remove(path);
      } catch (error) {
        failures.push(messageOf(error));
      }
    }
    throw new AppError('data-dir-unusable', failures.join('; '));
  }

  /** Oldest first. Removes the files of crashed servers. */
  list(): RunningServer[] {
    const servers = new Map<string, RunningServer>();
    for (const { path, entry } of this.#files()) {
      if (entry === undefined) continue;
      if (!isAlive(entry.pid) || !isDataFolderLocked(entry.dataDir)) remove(path);
      else servers.set(entry.dataDir, entry);
    }
    return [...servers.values()].sort((one, other) => one.startedAtMs - other.startedAtMs);
  }

  #files(): { path: string; entry: RunningServer | undefined }[] {
    return this.#folders.filter(isPrivate).flatMap(folder =>
      readdirSync(folder)
        .filter(name => name.endsWith('.json'))
        .map(name => join(folder, name))
        .map(path => ({ path, entry: read(path) })),
    );
  }
}

/** Lists folders for state. Some containers have neither a home folder nor an entry in `/etc/passwd`. */
function stateFolders(): string[] {
  try {
    const home = homedir();
    return isAbsolute(home) ? [join(home, '.local', 'state', 'millrace')] : [];
  } catch {
    return [];
  }
}

function ownUid(): number | undefined {
  return process.getuid?.();
}

/** Requires a folder of this user that others cannot write to. */
function isPrivate(folder: string): boolean {
  try {
    const found = lstatSync(folder);
    return found.isDirectory() && found.uid === ownUid() && (found.mode & 0o022) === 0;
  } catch {
    return false;
  }
}

function read(path: string): RunningServer | undefined {
  try {
    const entry = JSON.parse(readFileSync(path, 'utf8')) as RunningServer & { readonly host: string };
    const numbers = [entry.pid, entry.startedAtMs];
    const texts = [entry.dataDir, entry.programDir, entry.publicUrl];
    const isWhole =
      numbers.every(one => Number.isSafeInteger(one) && one > 0) &&
      texts.every(one => typeof one === 'string');
    if (!isWhole) throw new Error('no entry');
    // Machines may share a home folder, but not their processes.
    return entry.host === hostname() ? entry : undefined;
  } catch {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found !== undefined && Date.now() - found.mtimeMs > unreadableKeptMs) remove(path);
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return systemCodeOf(error) === 'EPERM';
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The next call tries again.
  }
}
