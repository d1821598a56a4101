import Sqlite from 'better-sqlite3';
import { messageOf } from '../shared/errors.ts';

let isSupported = process.platform === 'linux';

/**
 * Returns free pages of the C library's heap to the system. glibc itself returns only those at the end of the heap, and JavaScript
 * cannot call its `malloc_trim`. SQLite can: it looks for an extension's entry point by name, in any library. The pointer that it
 * passes is too large to count as bytes to keep. Other C libraries have no such function, and nothing happens.
 */
export function trimMalloc(): void {
  if (!isSupported) return;
  const sqlite = new Sqlite(':memory:');
  // Declares the documented second argument, which the types lack.
  const loader: { loadExtension(path: string, entryPoint: string): unknown } = sqlite;
  try {
    loader.loadExtension('libc.so.6', 'malloc_trim');
  } catch (error) {
    // `malloc_trim` returns 1 when there was something to return, which is an error code of SQLite's.
    isSupported = messageOf(error).startsWith('error during initialization');
  } finally {
    sqlite.close();
  }
}
