import { existsSync } from 'node:fs';
import { link, rename, rm } from 'node:fs/promises';
import { systemCodeOf } from '../shared/errors.ts';

/**
 * Gives a complete file its name. Returns false if a file has it already.
 *
 * Creating a hard link fails when the file exists. Without hard links, only a check before can.
 */
export async function publishNew(partial: string, path: string): Promise<boolean> {
  try {
    await link(partial, path);
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST' || existsSync(path)) return false;
    await rename(partial, path);
    return true;
  }
  await rm(partial);
  return true;
}
