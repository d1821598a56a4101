import { chmodSync, existsSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { AppError } from '../shared/errors.ts';

/** Remembers a data folder that is missing or empty. Returns a function that makes it so again after a start that failed. */
export function rememberEmptyFolder(dataDir: string): (error: unknown) => void {
  const path = resolve(dataDir);
  const mode = modeOfEmpty(path);
  if (mode === undefined) return () => {};
  const parents = mode === 'missing' ? missingParents(path) : [];
  return error => {
    // Another server may have come first, and what is there is then its.
    if (error instanceof AppError && error.code === 'data-dir-unusable') return;
    try {
      for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true, force: true });
      if (mode === 'missing') for (const folder of [path, ...parents]) rmdirSync(folder);
      else chmodSync(path, mode);
    } catch {
      // The folder was not made, or somebody else uses it.
    }
  };
}

/** Undefined for a folder with content, and for what is no folder or cannot be read. */
function modeOfEmpty(path: string): number | 'missing' | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return 'missing';
    return readdirSync(path).length === 0 ? found.mode & 0o777 : undefined;
  } catch {
    return undefined;
  }
}

/** Lists the folders above a missing one that are missing too, the lowest first. */
function missingParents(path: string): string[] {
  const parent = dirname(path);
  return existsSync(parent) || parent === path ? [] : [parent, ...missingParents(parent)];
}
