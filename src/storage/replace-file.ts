import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { mayBeCommitted } from '../shared/errors.ts';
import type { MediaFiles } from './media-files.ts';

/**
 * Publishes a file and deletes the one that it replaces. The file is in place before its row names it: a
 * crash can only leave a file that no row names. `commit` writes the row and returns the unused name: the
 * replaced one, or the new one when no row takes it. When it fails, the new file is deleted, unless a row
 * may name it: the sweep decides then.
 */
export async function replaceFile(
  files: MediaFiles,
  { from, folder, name }: { readonly from: string; readonly folder: string; readonly name: string },
  commit: () => Promise<string | undefined>,
): Promise<void> {
  await files.publish(from, join(folder, name));
  let unusedName: string | undefined;
  try {
    unusedName = await commit();
  } catch (error) {
    if (!mayBeCommitted(error)) await removeFileIn(files, folder, name);
    throw error;
  }
  if (unusedName !== undefined) await removeFileIn(files, folder, unusedName);
}

/** Deletes an empty folder too: publishing a file may have recreated the folder of a deleted owner. */
export async function removeFileIn(files: MediaFiles, folder: string, name: string): Promise<void> {
  await files.storage.remove(join(folder, name));
  await rmdir(folder).catch(() => {});
}
