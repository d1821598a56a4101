import { chmodSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, systemCodeOf } from '../shared/errors.ts';

/** Permissions of a group and of all other users. */
const foreignBits = 0o077;

/**
 * Takes the permissions of all other users from a data folder and from the files and folders directly in it. A folder that does
 * not exist yet is left to whoever creates it.
 *
 * @returns the paths that were changed, and a message for each that could not be
 */
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
    restrict(dataDir, statSync(dataDir).mode);
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
