import { lstat, readdir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../../shared/errors.ts';

/** @returns freed bytes; a file with another hard link frees none */
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
