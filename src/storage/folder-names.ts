import { readdir } from 'node:fs/promises';
import { systemCodeOf } from '../shared/errors.ts';

/** Names of what is in a folder; none when it is not there, or is no folder. */
export function namesIn(path: string): Promise<string[]> {
  return orNone(readdir(path));
}

/** Names of the folders in a folder; none when it is not there, or is no folder. */
export async function foldersIn(path: string): Promise<string[]> {
  const entries = await orNone(readdir(path, { withFileTypes: true }));
  return entries.filter(entry => entry.isDirectory()).map(entry => entry.name);
}

async function orNone<Entry>(reading: Promise<Entry[]>): Promise<Entry[]> {
  try {
    return await reading;
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}
