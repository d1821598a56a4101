import { readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { foldersIn } from '../storage/folder-names.ts';
import type { MediaFiles } from '../storage/media-files.ts';

/**
 * Removes local files of videos that an earlier run left. For object storage: what is finished is there, and a local file would
 * hide it.
 */
export async function removeLocalLeftovers(
  files: MediaFiles,
  isLeftover: (videoId: string, name: string) => boolean,
): Promise<void> {
  if (files.storage.kind !== 's3') return;
  for (const videoId of await foldersIn(files.root('vod'))) {
    const folder = files.video(videoId);
    for (const name of await readdir(folder)) {
      if (isLeftover(videoId, name)) await rm(join(folder, name), { recursive: true, force: true });
    }
    await rmdir(folder).catch(() => {});
  }
}
