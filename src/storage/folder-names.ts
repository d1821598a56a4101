import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { systemCodeOf } from '../shared/errors.ts';

/** Empty when the folder is missing or not a folder. */
export function namesIn(path: string): Promise<string[]> {
  return emptyIfMissing(readdir(path));
}

export function entriesIn(path: string): Promise<Dirent[]> {
  return emptyIfMissing(readdir(path, { withFileTypes: true }));
}

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

export function isNotFound(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}
