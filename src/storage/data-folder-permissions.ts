import { chmodSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, systemCodeOf } from '../shared/errors.ts';

const foreignBits = 0o077;

/** Removes the permissions of other users from a data folder and its children. Ignores what is missing or no folder. */
export function makeDataFolderPrivate(dataDir: string): { changed: string[]; failed: string[] } {
  const changed: string[] = [];
  const failed: string[] = [];
  const restrict = (path: string, mode: number) => {
    if ((mode & foreignBits) === 0) return;
    try {
      chmodSync(path, mode & 0o700);
      changed.push(path);
    } catch (error) {
      failed.push(messageOf(error));
    }
  };
  try {
    const folder = statSync(dataDir);
    // The start then says that it cannot be used.
    if (!folder.isDirectory()) return { changed, failed };
    restrict(dataDir, folder.mode);
    for (const name of readdirSync(dataDir)) {
      const path = join(dataDir, name);
      const entry = lstatSync(path, { throwIfNoEntry: false });
      if (entry?.isFile() || entry?.isDirectory()) restrict(path, entry.mode);
    }
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') failed.push(messageOf(error));
  }
  return { changed, failed };
}
