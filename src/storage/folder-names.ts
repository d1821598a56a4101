import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { systemCodeOf } from '../shared/errors.ts';

/** Lists the names in a folder. Empty when it is missing or not a folder. */
export function namesIn(path: string): Promise<string[]> {
  return emptyIfMissing(readdir(path));
}

/** Lists the entries of a folder. Empty when it is missing or not a folder. */
export function entriesIn(path: string): Promise<Dirent[]> {
  return emptyIfMissing(readdir(path, { withFileTypes: true }));
}

/** Lists the names of subfolders. Empty when the folder is missing or not a folder. */
export async function foldersIn(path: string): Promise<string[]> {
  const entries = await entriesIn(path);
  return entries.filter(entry => entry.isDirectory()).map(entry => entry.name);
}

async function emptyIfMissing<Entry>(entries: Promise<Entry[]>): Promise<Entry[]> {
  try {
    return await entries;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

/** Returns true for the error of a missing file or folder. */
export function isNotFound(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}
