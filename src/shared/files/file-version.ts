import type { Stats } from 'node:fs';

/** Key of a file and its content, for caches of what was read from it. */
export function fileVersion(path: string, { ino, size, mtimeMs }: Stats): string {
  return [path, ino, size, mtimeMs].join();
}
