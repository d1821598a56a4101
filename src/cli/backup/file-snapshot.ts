import { linkSync, mkdirSync, readdirSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { readdir, readlink, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemCodeOf } from '../../shared/errors.ts';
import { newUuid } from '../../shared/ids.ts';
import { foldersIn } from '../../storage/folder-names.ts';
import { DataFolderLock } from '../../store/data-folder-lock.ts';
import { BackupError } from './archive-format.ts';
import { type DataFile, dataFiles, isExcludedFromBackup, snapshotPrefix } from './data-files.ts';

const linkRefusals = new Set(['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV']);
const maxSkippedNames = 20;
const backupLockName = 'backup.lock';

/** Deleted files stay readable through their links. Files of a server never change, or only grow. */
export class FileSnapshot {
  readonly #dataDir: string;
  readonly #folder: string;
  readonly #signal: AbortSignal;
  readonly #skipped: string[] = [];
  #skippedCount = 0;
  #hasLinks = true;

  constructor(dataDir: string, signal: AbortSignal) {
    this.#dataDir = dataDir;
    this.#folder = join(dataDir, `${snapshotPrefix}${newUuid()}`);
    this.#signal = signal;
  }

  get root(): string {
    return this.#hasLinks ? this.#folder : this.#dataDir;
  }

  /** True with hard links; without, the files themselves are read. */
  get hasLinks(): boolean {
    return this.#hasLinks;
  }

  get skipped(): { readonly count: number; readonly names: readonly string[] } {
    return { count: this.#skippedCount, names: this.#skipped };
  }

  /** Takes a snapshot. Earlier links of deleted files stay. */
  async take(): Promise<void> {
    this.#skippedCount = 0;
    this.#skipped.length = 0;
    if (!this.#hasLinks) return;
    try {
      this.#makeFolders();
      for await (const file of dataFiles(this.#dataDir, name => this.#skip(name))) {
        this.#signal.throwIfAborted();
        this.#link(file);
      }
    } catch (error) {
      if (!linkRefusals.has(systemCodeOf(error) ?? '') || !isOfLink(error)) throw error;
      await this.remove();
      this.#hasLinks = false;
    }
  }

  files(): AsyncGenerator<DataFile> {
    return dataFiles(this.root, name => {
      if (!this.#hasLinks) this.#skip(name);
    });
  }

  /** May be called twice. */
  async remove(): Promise<void> {
    await removeSnapshot(this.#folder);
  }

  #makeFolders(): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const { dev } = statSync(this.#folder);
    for (const name of readdirSync(this.#dataDir)) {
      if (isExcludedFromBackup(name)) continue;
      const info = statSync(join(this.#dataDir, name), { throwIfNoEntry: false });
      if (info === undefined || !info.isDirectory() || info.dev === dev) continue;
      const there = join(
        realpathSync(join(this.#dataDir, name)),
        this.#folder.slice(dirname(this.#folder).length + 1),
      );
      mkdirSync(there, { recursive: true, mode: 0o700 });
      ifNotThere(() => symlinkSync(there, join(this.#folder, name)));
    }
  }

  #link({ name, path }: DataFile): void {
    const target = join(this.#folder, name);
    try {
      linkSync(path, target);
    } catch (error) {
      const code = systemCodeOf(error);
      if (code === 'EEXIST') {
        if (!isSameFile(path, target)) this.#replace(path, target);
      } else if (code === 'ENOENT') {
        // Creates the missing folder, or ignores a file that no longer exists.
        mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
        ifThere(() => linkSync(path, target));
      } else throw error;
    }
  }

  #replace(path: string, target: string): void {
    rmSync(target, { force: true });
    ifThere(() => linkSync(path, target));
  }

  #skip(name: string): void {
    this.#skippedCount += 1;
    if (this.#skipped.length < maxSkippedNames) this.#skipped.push(name);
  }
}

/** Links of killed backups keep deleted files on the disk. Returns the number of removed folders. */
export async function removeStaleSnapshots(dataDir: string): Promise<number> {
  const left = await leftSnapshots(dataDir);
  if (left.length === 0) return 0;
  let lock: ReturnType<typeof acquireBackupLock>;
  try {
    lock = acquireBackupLock(dataDir);
  } catch (error) {
    if (error instanceof BackupError) return 0;
    throw error;
  }
  try {
    for (const folder of left) await removeSnapshot(folder);
  } finally {
    lock.release();
  }
  return left.length;
}

/** @throws BackupError while another backup runs */
export function acquireBackupLock(dataDir: string): { release(): void } {
  try {
    const lock = DataFolderLock.acquire(dataDir, backupLockName);
    return {
      release: () => {
        // Removed before the lock is released, so that it never belongs to another backup. A file of root
        // would block the server's user.
        rmSync(join(dataDir, backupLockName), { force: true });
        lock.release();
      },
    };
  } catch (error) {
    const isTaken = error instanceof Error && systemCodeOf(error.cause)?.startsWith('SQLITE_BUSY') === true;
    if (isTaken)
      throw new BackupError(`Another backup of ${dataDir} is running. Wait until it has finished.`);
    throw error;
  }
}

/**
 * Lists snapshots of running and killed backups. Folders on other disks are named like these, beside their files.
 */
async function leftSnapshots(dataDir: string): Promise<string[]> {
  const folders = [dataDir, ...(await foldersIn(dataDir)).map(name => join(dataDir, name))];
  const left: string[] = [];
  for (const folder of folders) {
    for (const name of await foldersIn(folder)) {
      if (name.startsWith(snapshotPrefix)) left.push(join(folder, name));
    }
  }
  return left;
}

async function removeSnapshot(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    if (!entry.isSymbolicLink()) continue;
    await rm(await readlink(join(folder, entry.name)), { recursive: true, force: true });
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

function isOfLink(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'link';
}

function isSameFile(one: string, other: string): boolean {
  const [first, second] = [one, other].map(path => statSync(path, { throwIfNoEntry: false }));
  return first === undefined || (first.ino === second?.ino && first.dev === second.dev);
}

function ifThere(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
  }
}

function ifNotThere(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error;
  }
}
