import type { Dirent } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isNotFound } from '../../storage/folder-names.ts';
import { removedPrefix } from '../../storage/removed-prefix.ts';
import { restoreMarker } from '../../store/data-folder-lock.ts';

export const databaseName = 'millrace.db';
export const snapshotPrefix = '.backup-';

export interface DataFile {
  readonly name: string;
  readonly path: string;
}

const scratchFolders = new Set([
  '.programs',
  'bundles',
  'cache',
  'incoming',
  'work',
  'lost+found',
  'moved-to-s3',
]);
/** A restored folder is another node. */
const scratchFile = new RegExp(
  `^(?:millrace\\.db.*|(?:millrace|backup)\\.lock.*|node-id(?:\\.new)?|${restoreMarker})$`,
);
const partialSource = /^vod\/[^/]+\/source\.partial(?:\.tag)?$/;
/** Rewind window, `live/<liveStreamId>/<broadcastId>`. The server removes it at its start. */
const rewindFolder = /^live\/[^/]+\/[^/]+$/;
const controlCharacters = /\p{Cc}/u;
const maxDepth = 32;

/**
 * Lists the files of a backup besides the database. Top-level folders may be symbolic links. Skips files that
 * are deleted meanwhile. `onSkipped`: for entries that are neither files nor folders, or have control
 * characters in their names.
 */
export async function* dataFiles(root: string, onSkipped: (name: string) => void): AsyncGenerator<DataFile> {
  for await (const entry of entriesOf(root)) {
    const { name } = entry;
    if (isExcludedFromBackup(name) || scratchFolders.has(name)) continue;
    const path = join(root, name);
    const info = await stat(path).catch(() => undefined);
    if (controlCharacters.test(name)) onSkipped(name);
    else if (info?.isDirectory()) yield* filesBelow(path, name, 1, onSkipped);
    else if (info?.isFile()) yield { name, path };
    else if (info !== undefined || entry.isSymbolicLink()) onSkipped(name);
  }
}

async function* filesBelow(
  folder: string,
  folderName: string,
  depth: number,
  onSkipped: (name: string) => void,
): AsyncGenerator<DataFile> {
  for await (const entry of entriesOf(folder)) {
    const name = `${folderName}/${entry.name}`;
    const path = join(folder, entry.name);
    if (isExcludedFromBackup(name)) continue;
    if (controlCharacters.test(entry.name)) onSkipped(name);
    else if (entry.isFile()) yield { name, path };
    else if (!entry.isDirectory() || depth >= maxDepth) onSkipped(name);
    else if (!rewindFolder.test(name)) yield* filesBelow(path, name, depth + 1, onSkipped);
  }
}

/** Includes the database, which is copied separately. */
export function isExcludedFromBackup(name: string): boolean {
  if (name.split('/').some(part => part.startsWith(removedPrefix) || part.startsWith(snapshotPrefix)))
    return true;
  return scratchFile.test(name) || partialSource.test(name);
}

async function* entriesOf(path: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(path, { bufferSize: 128 });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
