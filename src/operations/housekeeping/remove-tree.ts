import { lstat, readdir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../../shared/errors.ts';

/**
 * Removes a file, or a folder with all in it, one after the other.
 *
 * @param signal leaves the rest for another time
 * @returns bytes of the disk that are free now; a file that has another name somewhere frees none
 */
export async function removeTree(path: string, signal: AbortSignal | undefined): Promise<number> {
  try {
    const info = await lstat(path);
    if (!info.isDirectory()) {
      await unlink(path);
      return info.nlink > 1 ? 0 : info.blocks * 512;
    }
    let bytes = 0;
    for (const name of await readdir(path)) {
      if (signal?.aborted === true) return bytes;
      bytes += await removeTree(join(path, name), signal);
    }
    await rmdir(path);
    return bytes;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return 0;
    throw error;
  }
}
