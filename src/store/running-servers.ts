import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError, messageOf, systemCodeOf } from '../shared/errors.ts';
import { randomBase62 } from '../shared/ids.ts';
import { isDataFolderLocked } from './data-folder-lock.ts';

/** A server that runs on this machine as this user. */
export interface RunningServer {
  readonly pid: number;
  readonly dataDir: string;
  /** Folder of the program. */
  readonly programDir: string;
  readonly publicUrl: string;
  readonly startedAtMs: number;
}

/** A file of another process that cannot be read is left alone for this long: it may still be written. */
const unreadableKeptMs = 60_000;

/**
 * The servers of this user that run now. Each leaves a file that names its data folder, in the user's state folder, or in the folder
 * for temporary files where that cannot be written. What a crash leaves is ignored and removed: a server runs only while its process
 * is there and its data folder is locked.
 */
export class RunningServers {
  readonly #folders: readonly string[];

  constructor(folders: readonly string[] = [...stateFolders(), join(tmpdir(), `millrace-${ownUid()}`)]) {
    this.#folders = folders;
  }

  /**
   * Adds this process, which has the lock of the data folder.
   *
   * @returns what removes it again
   * @throws AppError `data-dir-unusable` when no folder can be written
   */
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

  /** Every server that runs, the oldest first. Removes the files of those that ended. */
  list(): RunningServer[] {
    const servers = new Map<string, RunningServer>();
    for (const { path, entry } of this.#files()) {
      if (entry === undefined) continue;
      if (!isAlive(entry.pid) || !isDataFolderLocked(entry.dataDir)) remove(path);
      else servers.set(entry.dataDir, entry);
    }
    return [...servers.values()].sort((one, other) => one.startedAtMs - other.startedAtMs);
  }

  /** Files of this machine's servers. Removes what cannot be read and is not new. */
  #files(): { path: string; entry: RunningServer | undefined }[] {
    return this.#folders.filter(isPrivate).flatMap(folder =>
      readdirSync(folder)
        .filter(name => name.endsWith('.json'))
        .map(name => join(folder, name))
        .map(path => ({ path, entry: read(path) })),
    );
  }
}

/** The folder in the user's home; none for a user without a home or an entry in `/etc/passwd`, as in containers. */
function stateFolders(): string[] {
  try {
    return [join(homedir(), '.local', 'state', 'millrace')];
  } catch {
    return [];
  }
}

/** `userInfo` throws for a user without an entry in `/etc/passwd`. */
function ownUid(): number | undefined {
  return process.getuid?.();
}

/** Returns whether a folder is there, belongs to this user, and nobody else can write to it. */
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
    // A home folder may be shared by machines, and none knows the processes of another.
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
    // The next one tries again.
  }
}
