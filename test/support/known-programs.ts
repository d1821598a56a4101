import { constants, copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { BuildVersionCache } from '../../src/ffmpeg/build/build-version-cache.ts';
import { findFfmpeg, findFfprobe } from '../../src/ffmpeg/build/find-ffmpeg.ts';

/** Environment variable with the path of a file that has the versions of the machine's programs, as servers keep them. */
export const knownPrograms = 'MILLRACE_TEST_PROGRAMS';
const name = 'programs.json';

/** Looks at the programs for all servers of a run, and returns the path of the file. */
export async function noteKnownPrograms(folder: string): Promise<string> {
  const path = join(folder, name);
  const versions = await BuildVersionCache.read(path);
  await Promise.all([
    findFfmpeg(undefined, process.env, versions),
    findFfprobe(undefined, process.env, versions),
  ]);
  await versions.save();
  return path;
}

/** Spares a server on a new data folder a look at each program: to start a distribution's ffmpeg takes more than all else. */
export function addKnownPrograms(dataDir: string): void {
  const path = process.env[knownPrograms];
  if (path !== undefined && existsSync(dataDir) && !existsSync(join(dataDir, name)))
    copyFileSync(path, join(dataDir, name), constants.COPYFILE_EXCL);
}
