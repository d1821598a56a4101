import { readdirSync, readlinkSync } from 'node:fs';

/** Paths of the files below `folder` that this process has open. */
export function openFilesIn(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap(descriptor => {
    try {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`);
      return path.startsWith(folder) ? [path] : [];
    } catch {
      return [];
    }
  });
}
