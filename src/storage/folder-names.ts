import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { systemCodeOf } from '../shared/errors.ts';

/** Names of what is in a folder; none when it is not there, or is no folder. */
export function namesIn(path: string): Promise<string[]> {
  return orNone(readdir(path));
}

/** What is in a folder, and whether it is a file or a folder; nothing when it is not there, or is no folder. */
export function entriesIn(path: string): Promise<Dirent[]> {
  return orNone(readdir(path, { withFileTypes: true }));
}

/** Names of the folders in a folder; none when it is not there, or is no folder. */
export async function foldersIn(path: string): Promise<string[]> {
  const entries = await entriesIn(path);
  return entries.filter(entry => entry.isDirectory()).map(entry => entry.name);
}

async function orNone<Entry>(reading: Promise<Entry[]>): Promise<Entry[]> {
  try {
    return await reading;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

/** Whether a file or folder could not be read because there is none. */
export function isNotFound(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}
